import { describe, expect, test } from 'vitest'
import { lexicalEncoder } from './lexical-encoder.ts'
import { type TaskFields, taskEmbedding } from './query-embedding.ts'

const question = 'What was the change in revenue?'
const options = ['A. it rose', 'B. it fell']
const context = 'Revenue was 120 in 2018 and 150 in 2019.'
const metadata = 'tatqa table_interpreter calculator'

/** The paper's equation, transcribed directly. */
async function mixed(parts: readonly (readonly [number, string])[]): Promise<number[]> {
  const vectors = await lexicalEncoder.encode(parts.map(([, text]) => text))
  const sum = Array.from(vectors[0]!, (_, entry) =>
    parts.reduce((total, [weight], index) => total + weight * vectors[index]![entry]!, 0),
  )
  const norm = Math.hypot(...sum)
  return sum.map((entry) => entry / norm)
}

function expectClose(actual: Float32Array, expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length)
  for (const [index, entry] of actual.entries()) expect(entry).toBeCloseTo(expected[index]!, 6)
}

describe('q = Normalize(0.5 question + 0.4 context + 0.1 metadata)', () => {
  const asked = `${question}\n${options.join('\n')}`
  const cases: [string, TaskFields, [number, string][]][] = [
    [
      'all fields; options belong to the question',
      { question, options, context, metadata },
      [
        [0.5, asked],
        [0.4, context],
        [0.1, metadata],
      ],
    ],
    [
      'no context',
      { question, metadata },
      [
        [0.5, question],
        [0.1, metadata],
      ],
    ],
    [
      'blank metadata',
      { question, context, metadata: ' \n' },
      [
        [0.5, question],
        [0.4, context],
      ],
    ],
    ['question only', { question, options: [] }, [[1, question]]],
    ['no question', { question: '', context }, [[1, context]]],
  ]
  test.each(cases)('%s', async (_, fields, parts) => {
    expectClose(await taskEmbedding(fields, lexicalEncoder), await mixed(parts))
  })
})

test('a task without any text is refused', async () => {
  await expect(taskEmbedding({ question: ' ' }, lexicalEncoder)).rejects.toThrow('there is nothing to embed')
})
