import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Reference } from '../../tasks/scoring/reference.ts'
import { splitVersion, type TaskSet, TaskSetError } from '../../tasks/task-set.ts'
import { formOfAnswer } from '../model/answer-form.ts'
import { knownTasks } from '../model/known-task.ts'
import { kindOf } from '../model/question-kind.ts'
import { questionSequence } from './question-sequence.ts'
import type { QuestionMaker } from './synthetic-question.ts'
import { syntheticFamilies, syntheticTaskSet } from './synthetic-task-set.ts'

const set = syntheticTaskSet({ seed: 3, train: 300, test: 200 })
const withoutCode = syntheticFamilies.filter((family) => family !== 'code')

function allTasks({ splits }: TaskSet<Reference>) {
  return Object.values(splits).flatMap(({ tasks, references }) =>
    tasks.map((task) => ({ task, reference: references.get(task.id)! })),
  )
}

describe('the set', () => {
  test('depends only on seed, family and number, and shares no question between splits', () => {
    const counts = fc.integer({ min: 1, max: 40 })
    const families = fc.subarray([...syntheticFamilies], { minLength: 1 })
    fc.assert(
      fc.property(
        fc.nat(1000),
        counts,
        counts,
        counts,
        counts,
        families,
        families,
        (seed, a, b, c, d, f, g) => {
          const one = allTasks(syntheticTaskSet({ seed, train: a, test: b, families: f }))
          const two = allTasks(syntheticTaskSet({ seed, train: c, test: d, families: g }))
          const known = new Map(one.map((example) => [example.task.id, example]))
          for (const example of two)
            if (known.has(example.task.id)) expect(example).toEqual(known.get(example.task.id))
          expect(known.size).toBe(a + b)
          expect(new Set(one.map(({ task }) => task.question)).size).toBe(a + b)
        },
      ),
      { numRuns: 15 },
    )
  })

  test('has different questions for different seeds', () => {
    const other = syntheticTaskSet({ seed: 4, train: 300, test: 200 })
    expect(splitVersion(other, 'train')).not.toBe(splitVersion(set, 'train'))
    const texts = new Set(allTasks(set).map(({ task }) => task.question))
    expect(texts.size).toBe(500)
    const common = allTasks(other).filter(({ task }) => texts.has(task.question))
    // Programming problems contain small numbers, so some recur; the others hardly ever do.
    expect(common.filter(({ task }) => task.metadata['family'] !== 'code').length).toBeLessThan(5)
  })

  test('alternates between the families in a fixed order', () => {
    const families = (name: 'train' | 'test') =>
      set.splits[name]!.tasks.map(({ metadata }) => metadata['family'])
    expect(families('train').slice(0, 7)).toEqual([...syntheticFamilies, 'arithmetic', 'choice'])
    for (const family of syntheticFamilies)
      expect(families('test').filter((one) => one === family)).toHaveLength(40)
    const given = syntheticTaskSet({ train: 3, test: 3, families: ['code', 'arithmetic'] })
    expect(given.splits['train']!.tasks.map(({ id }) => id)).toEqual([
      'synthetic-0-arithmetic-0',
      'synthetic-0-code-0',
      'synthetic-0-arithmetic-2',
    ])
    expect(given.splits['test']!.tasks[0]!.id).toBe('synthetic-0-arithmetic-1')
  })

  test('has all roles, the tools it needs and one kind of question per family', () => {
    expect(set.library.roles).toHaveLength(14)
    expect(set.profile.tools).toEqual(['calculator', 'public_code', 'table_reader'])
    const kinds = { arithmetic: 'math', choice: 'knowledge' } as Record<string, string>
    for (const { task, answer } of knownTasks(set)) {
      const family = task.metadata['family']!
      expect(kindOf(task, formOfAnswer(answer, task))).toBe(kinds[family] ?? family)
    }
  })
})

describe('answers', () => {
  test('fit their contract; the right one scores 1, the others 0', async () => {
    const simple = syntheticTaskSet({ seed: 5, train: 400, test: 400, families: withoutCode })
    for (const { task, reference } of allTasks(simple)) {
      const { answer, wrong = [] } = simple.scorer.solution!(reference)!
      const contract = simple.contractOf(task)
      expect(wrong.length, task.question).toBeGreaterThan(0)
      expect(new Set([answer, ...wrong]).size).toBe(wrong.length + 1)
      for (const one of [answer, ...wrong]) {
        expect(contract.check(one)).toEqual({ verdict: 'fits' })
        expect((await simple.scorer.score(one, reference, {})).score, task.question).toBe(
          one === answer ? 1 : 0,
        )
      }
    }
  })

  test('are true and false equally often, and use every label', () => {
    const claims = syntheticTaskSet({ train: 200, test: 100, families: ['table-claim'] })
    for (const { references } of Object.values(claims.splits)) {
      const truths = [...references.values()].map((one) => one.kind === 'boolean' && one.value)
      expect(truths.filter((truth) => truth)).toHaveLength(truths.length / 2)
    }
    const choices = syntheticTaskSet({ train: 500, test: 1, families: ['choice'] })
    const labels = [...choices.splits['train']!.references.values()].map(
      (one) => one.kind === 'choice' && one.label,
    )
    for (const label of 'ABCD') expect(labels.filter((one) => one === label).length).toBeGreaterThan(75)
  })

  test('cannot be copied from the text', () => {
    for (const { task, reference } of allTasks(set)) {
      if (reference.kind !== 'number-text') continue
      const cells = task.tables?.flatMap(({ rows }) => rows.flat()) ?? []
      expect([task.question, ...cells].join(' ').match(/\d+/g)).not.toContain(reference.text)
    }
  })

  test('options differ from each other', () => {
    for (const { task } of allTasks(set)) {
      const { options } = task
      if (options === undefined) continue
      expect([4, 5]).toContain(options.length)
      expect(new Set(options.map(({ text }) => text)).size).toBe(options.length)
    }
  })
})

test('some have notes of three, eight or sixteen sentences without numbers', () => {
  const notes = allTasks(set).map(({ task: { context = [] } }) => context.join(' '))
  const lengths = notes.map((text) => text.match(/\.(?: |$)/g)?.length ?? 0)
  for (const length of [0, 3, 8, 16])
    expect(Math.abs(lengths.filter((one) => one === length).length - 125)).toBeLessThan(40)
  expect(new Set(lengths).size).toBe(4)
  for (const text of notes) expect(text).not.toMatch(/\d|undefined|[{}]|\. [a-z]/)
})

test('texts are well formed', () => {
  for (const { task } of allTasks(set)) {
    expect(task.question).not.toMatch(/undefined|NaN|null|\.\.| {2}|\d\.\d|\b1 [a-z]+s\b/)
    expect(task.question).toMatch(/^[A-Z].*[.?!”]$/s)
    expect(task.question).not.toMatch(/[?.] [a-z]/)
  }
})

test.each([
  [{ families: [] }, 'at least one family'],
  [{ families: ['poetry'] as never[] }, "no family 'poetry'"],
  [{ train: 0 }, 'set train to a whole number'],
  [{ test: 2.5 }, 'set test to a whole number'],
  [{ seed: -1 }, 'seed'],
])('refuses %j', (options, message) => {
  expect(() => syntheticTaskSet(options)).toThrow(TaskSetError)
  expect(() => syntheticTaskSet(options)).toThrow(message)
})

test('reports when a family runs out of questions', () => {
  const two: QuestionMaker = (draw) => ({ ...fixed, task: { question: `Is it ${draw.integer(1, 2)}?` } })
  const fixed = { reference: { kind: 'boolean', value: true }, solution: { answer: 'true' } } as const
  const texts = questionSequence(1, 'tiny', [two], 2).map(({ task }) => task.question)
  expect(texts.sort()).toEqual(['Is it 1?', 'Is it 2?'])
  expect(() => questionSequence(1, 'tiny', [two], 3)).toThrow("'tiny' has no more than 2 different questions")
})

test('has no contract for tasks of other sets', () => {
  expect(() => set.contractOf({ id: 'x', question: '?', metadata: {} })).toThrow('metadata.family')
})
