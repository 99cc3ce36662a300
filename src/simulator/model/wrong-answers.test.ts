import fc from 'fast-check'
import { expect, test } from 'vitest'
import { contractOf, questions } from '../../../test/simulated/questions.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { Task } from '../../library/task.ts'
import { type AnswerForm, answerKey, fitsForm, formOfAnswer } from './answer-form.ts'
import { questionKinds } from './question-kind.ts'
import { wrongAnswers } from './wrong-answers.ts'

const task: Task = {
  id: 't',
  question: 'How many of the 12 eggs from Basel are left after 5 broke?',
  metadata: {},
}

function checked(of: Task, answer: JsonValue, form: AnswerForm): readonly JsonValue[] {
  const wrong = wrongAnswers(of, answer, form)
  const keys = [answer, ...wrong].map((one) => answerKey(one, form))
  expect(new Set(keys).size).toBe(keys.length)
  expect(wrong.length).toBeLessThanOrEqual(4)
  return wrong
}

test('every kind of question has wrong answers within its contract', () => {
  for (const kind of questionKinds)
    for (const { task: of, answer } of questions(kind, 40)) {
      const form = formOfAnswer(answer, of)
      const wrong = checked(of, answer, form)
      expect(wrong.length, kind).toBeGreaterThan(0)
      for (const one of wrong) {
        expect(contractOf[kind].types).toContain(typeof one)
        expect(contractOf[kind].check(one)).toEqual({ verdict: 'fits' })
      }
    }
})

test('numbers keep their decimals and sign', () => {
  const number = fc
    .tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.nat(4))
    .map(([value, digits]) => value.toFixed(digits))
  fc.assert(
    fc.property(number, (answer) => {
      const wrong = checked(task, answer, 'number') as string[]
      expect(wrong.length).toBeGreaterThan(0)
      const decimals = (text: string): number => text.split('.')[1]?.length ?? 0
      for (const one of wrong) {
        expect(fitsForm(one, 'number')).toBe(true)
        expect(decimals(one)).toBe(decimals(answer))
        if (!answer.startsWith('-')) expect(one).not.toMatch(/^-/)
      }
    }),
  )
})

test('spans and scales', () => {
  const tables = [
    {
      name: 't',
      rows: [
        ['Basel', '12'],
        ['Bern', '14'],
      ],
    },
  ]
  const of = { ...task, tables }
  for (const answer of [
    { values: ['Basel'], scale: '' },
    { values: ['Basel', 'Bern'], scale: 'million' },
    { values: ['12.5'], scale: 'percent' },
    { values: [''], scale: 'thousand' },
  ]) {
    const wrong = checked(of, answer, 'values-and-scale')
    expect(wrong.length).toBeGreaterThan(0)
    for (const one of wrong) expect(fitsForm(one, 'values-and-scale'), JSON.stringify(one)).toBe(true)
  }
})

test('the user’s wrong answers come first, but never the right one', () => {
  expect(wrongAnswers(task, '7', 'number', ['8', '7.0', '17']).slice(0, 2)).toEqual(['8', '17'])
})

test('custom data keeps its shape', () => {
  expect(wrongAnswers(task, { steps: [3, 4], ok: true }, 'data')).toEqual([{ steps: [4, 4], ok: true }])
  expect(wrongAnswers(task, [false], 'data')).toEqual([[true]])
  expect(wrongAnswers(task, {}, 'data')).toEqual([])
})

test('for free text it is something else mentioned in the task', () => {
  const wrong = wrongAnswers(task, 'Bern', 'text')
  expect(wrong).toContain('Basel')
  expect(wrong).not.toContain('Bern')
})

test('the most tempting answer differs from question to question', () => {
  const first = questions('knowledge', 50).map(({ task: of, answer }) => wrongAnswers(of, answer, 'label')[0])
  expect(new Set(first).size).toBeGreaterThan(2)
})
