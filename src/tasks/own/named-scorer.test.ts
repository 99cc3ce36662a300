import { expect, test } from 'vitest'
import type { JsonValue } from '../../library/json-value.ts'
import { defineTasks } from './define-tasks.ts'
import type { ScorerName } from './named-scorer.ts'

async function scoreOf(scorer: ScorerName, answer: JsonValue, said: JsonValue): Promise<number> {
  const { set, reference } = await open(scorer, answer)
  return (await set.scorer.score(said, reference, {})).score
}

async function open(scorer: ScorerName, answer: JsonValue, more: object = {}) {
  const questions = [1, 2].map((number) => ({ question: `Question ${number}?`, answer, ...more }))
  const set = await defineTasks({ name: 'named', scorer, questions }).load()
  const reference = [...set.splits['train']!.references.values()][0]!
  return { set, reference }
}

test.each<[ScorerName, JsonValue, JsonValue, number]>([
  ['contains', '1648', 'It ended in 1648.', 1],
  ['contains', 'peace of WESTPHALIA', 'The  Peace of\nWestphalia', 1],
  ['contains', ['oil', 'petrol'], 'It is petrol', 1],
  ['contains', '1648', 'In 1649', 0],
  ['contains', '1648', { text: '1648' }, 0],
  ['contains', '1648', `${'x'.repeat(200_000)}1648`, 0],
  ['regex', '\\b1648\\b', 'in 1648.', 1],
  ['regex', '\\b1648\\b', 'in 16480', 0],
  ['regex', '(?i)^yes$', 'YES', 1],
  ['regex', '^[0-9]+$', 'none', 0],
  ['json-schema', { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } }, { a: 1 }, 1],
  ['json-schema', { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } }, { a: '1' }, 0],
  ['json-schema', { type: 'array', items: { enum: ['x', 'y'] }, minItems: 1 }, ['x', 'y'], 1],
  ['json-schema', { type: 'array', items: { enum: ['x', 'y'] }, minItems: 1 }, [], 0],
])('%s %j gives %j the score %d', async (scorer, answer, said, score) => {
  expect(await scoreOf(scorer, answer, said)).toBe(score)
})

test('an answer that would hang a backtracking engine is scored at once', async () => {
  // Takes 2^50000 steps with backtracking, so the test would never end.
  expect(await scoreOf('regex', '^(a+)+$', `${'a'.repeat(50_000)}!`)).toBe(0)
  expect(await scoreOf('regex', '(x+x+)+y', 'x'.repeat(90_000))).toBe(0)
})

test.each<[ScorerName, JsonValue, object, string]>([
  ['contains', '', {}, 'must be a text that an answer contains'],
  ['contains', 5, {}, 'must be a text that an answer contains'],
  ['regex', '(a', {}, 'is no regular expression of RE2'],
  ['regex', '(?=a)b', {}, 'is no regular expression of RE2'],
  ['regex', '(a)\\1', {}, 'is no regular expression of RE2'],
  ['json-schema', 'text', {}, 'must be a JSON Schema'],
  ['json-schema', { properties: { a: { pattern: '(a+)+$' } } }, {}, "has 'pattern'"],
  ['regex', '^a$', { solution: 'b' }, "does not score 1 by the scorer 'regex'"],
  ['regex', '^a$', { wrong: ['b', 'a'] }, 'is a right answer'],
])(
  '%s with the answer %j and %j is refused with file, row and field',
  async (scorer, answer, more, reason) => {
    await expect(open(scorer, answer, more)).rejects.toThrow(reason)
    await expect(open(scorer, answer, more)).rejects.toThrow(/row 1/)
  },
)

test('the self-check and the simulated model get a solution if one is known', async () => {
  const contains = await open('contains', ['one', 'two'])
  expect(contains.set.scorer.solution!(contains.reference)).toMatchObject({ answer: 'one' })
  const regex = await open('regex', '^a+$')
  expect(regex.set.scorer.solution!(regex.reference)).toBeUndefined()
  const given = await open('regex', '^a+$', { solution: 'aa' })
  expect(given.set.scorer.solution!(given.reference)).toMatchObject({ answer: 'aa' })
  expect(given.set).toMatchObject({ metric: 'accuracy' })
})

test('a schema, a solution and wrong answers may be JSON in a string, as in CSV', async () => {
  const schema = '{"type": "object", "properties": {"city": {"const": "Paris"}}, "required": ["city"]}'
  const more = { solution: '{"city": "Paris"}', wrong: ['{"city": "Rome"}', 'Rome'] }
  const { set, reference } = await open('json-schema', schema, more)
  expect(set.scorer.solution!(reference)).toEqual({
    answer: { city: 'Paris' },
    wrong: [{ city: 'Rome' }, 'Rome'],
  })
  expect((await set.scorer.score({ city: 'Paris' }, reference, {})).score).toBe(1)
  const text = await open('json-schema', '{"type": "string"}', { solution: '42' })
  expect(text.set.scorer.solution!(text.reference)).toMatchObject({ answer: '42' })
})
