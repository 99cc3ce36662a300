import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { answerOdds, type Heard, ownCompetence, type Situation, soundness } from './competence.ts'
import { constants } from './constants.ts'
import { questionKinds } from './question-kind.ts'
import { anybody, profileOf, roleProfiles } from './role-profile.ts'

const roles = [...roleProfiles.values()]
const tempting = constants.temptation.length

const heard = fc.record(
  {
    answer: fc.nat(tempting),
    role: fc.constantFrom(...roles),
    fromGroup: fc.boolean(),
    usedTool: fc.boolean(),
    sound: fc.boolean(),
  },
  { requiredKeys: ['role', 'fromGroup', 'usedTool'] },
)

const situations: fc.Arbitrary<Situation> = fc.record(
  {
    kind: fc.constantFrom(...questionKinds),
    hardness: fc.double({ min: -1, max: 1, noNaN: true }),
    hasOptions: fc.boolean(),
    choices: fc.constantFrom(0, 2, 5),
    part: fc.constantFrom('atomic', 'worker', 'aggregator', 'finalizer', 'direct'),
    role: fc.constantFrom(anybody, ...roles),
    executor: fc.constantFrom('solver_a', 'row_locator'),
    tool: fc.record({ name: fc.constantFrom('calculator', 'public_code', 'own'), worked: fc.boolean() }),
    heard: fc.array(heard, { maxLength: 4 }) as fc.Arbitrary<Heard[]>,
  },
  { requiredKeys: ['kind', 'hardness', 'hasOptions', 'choices', 'part', 'role', 'executor', 'heard'] },
)

const right = (situation: Situation): number => answerOdds(situation, tempting, 0)[0]!
const tiny = 1e-12

test('odds are probabilities that sum to one', () => {
  fc.assert(
    fc.property(situations, fc.nat(3), (situation, others) => {
      const odds = answerOdds(situation, tempting, others)
      expect(odds).toHaveLength(1 + tempting + others)
      expect(odds.every((one) => one >= 0 && one <= 1)).toBe(true)
      expect(odds.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 9)
      expect(soundness(situation)).toBeGreaterThanOrEqual(0)
    }),
  )
})

test('without tempting wrong answers, a wrong view gives no answer', () => {
  fc.assert(
    fc.property(situations, (situation) => {
      const alone = { ...situation, heard: [] }
      expect(answerOdds(alone, 0, 0)).toEqual([ownCompetence(alone)])
    }),
  )
})

describe('the right answer is more likely', () => {
  test('on an easier question', () => {
    fc.assert(
      fc.property(situations, fc.double({ min: 0, max: 2, noNaN: true }), (situation, step) => {
        const easier = { ...situation, hardness: situation.hardness - step }
        expect(right(easier)).toBeGreaterThanOrEqual(right(situation) - tiny)
      }),
    )
  })

  test('from a better suited role with the same job', () => {
    fc.assert(
      fc.property(situations, fc.constantFrom(...roles), (situation, other) => {
        fc.pre(situation.role.job === other.job && situation.part !== 'worker')
        const [low, high] = [situation.role, other].sort(
          (a, b) => a.suits[situation.kind] - b.suits[situation.kind],
        )
        const suited = { ...situation, hasOptions: true }
        expect(right({ ...suited, role: high! })).toBeGreaterThanOrEqual(
          right({ ...suited, role: low! }) - tiny,
        )
      }),
    )
  })

  test('after a tool that worked than after one that failed or none', () => {
    fc.assert(
      fc.property(situations, fc.constantFrom('calculator', 'table_reader', 'own'), (situation, name) => {
        const { tool: _, ...without } = situation
        const worked = right({ ...without, tool: { name, worked: true } })
        expect(worked).toBeGreaterThanOrEqual(right(without) - tiny)
        expect(right(without)).toBeGreaterThanOrEqual(
          right({ ...without, tool: { name, worked: false } }) - tiny,
        )
      }),
    )
  })

  test('after another message with it, and less likely after one with a wrong answer', () => {
    fc.assert(
      fc.property(
        situations,
        fc.constantFrom(...roles),
        fc.integer({ min: 1, max: tempting }),
        (situation, role, wrong) => {
          fc.pre(role.suits[situation.kind] >= 0 && role.job !== 'plan' && role.job !== 'gather')
          const before = { ...situation, hasOptions: true }
          const rightAfter = (answer: number): number =>
            right({
              ...before,
              heard: [...before.heard, { answer, role, fromGroup: false, usedTool: false }],
            })
          expect(rightAfter(0)).toBeGreaterThanOrEqual(right(before) - tiny)
          // A checker works only if there is something to check; having that may outweigh it being wrong.
          fc.pre(before.role.job !== 'check' || before.heard.some(({ answer }) => answer !== undefined))
          expect(rightAfter(wrong)).toBeLessThanOrEqual(right(before) + tiny)
        },
      ),
    )
  })

  test('when wrong messages contradict each other', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const says = (answer: number): Heard => ({ answer, role: anybody, fromGroup: false, usedTool: false })
        const agreeing = right({ ...situation, heard: [says(1), says(1)] })
        expect(right({ ...situation, heard: [says(1), says(2)] })).toBeGreaterThanOrEqual(agreeing - tiny)
      }),
    )
  })

  test('after sound preparation, and without an irrelevant message', () => {
    fc.assert(
      fc.property(situations, (situation) => {
        const plan = (sound: boolean): Heard => ({
          role: profileOf('quantitative_modeler'),
          fromGroup: false,
          usedTool: false,
          sound,
        })
        const rightAfter = (...more: Heard[]): number =>
          right({ ...situation, kind: 'math', heard: [...situation.heard, ...more] })
        expect(rightAfter(plan(true))).toBeGreaterThanOrEqual(rightAfter(plan(false)) - tiny)
        const stray: Heard = { role: profileOf('table_interpreter'), fromGroup: false, usedTool: false }
        expect(rightAfter()).toBeGreaterThanOrEqual(rightAfter(stray) - tiny)
      }),
    )
  })
})

test('custom roles are treated like the built-in ones their names resemble', () => {
  expect(profileOf('fact_finder')).toBe(roleProfiles.get('knowledge_reasoner'))
  expect(profileOf('Code_Tester')).toBe(roleProfiles.get('code_reviewer'))
  expect(profileOf('python_programmer')).toBe(roleProfiles.get('code_implementer'))
  expect(profileOf('critic')).toBe(roleProfiles.get('adversarial_verifier'))
  expect(profileOf('planner')).toBe(roleProfiles.get('task_decomposer'))
  expect(profileOf('poet')).toBe(anybody)
  expect(profileOf('__proto__')).toBe(anybody)
})
