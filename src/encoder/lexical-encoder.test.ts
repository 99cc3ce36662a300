import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeShared, sharedPath } from '../../test/shared.ts'
import { lexicalEncoder } from './lexical-encoder.ts'

describe('contract', () => {
  test('any text has a unit vector of 384 finite entries', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
        const [vector] = await lexicalEncoder.encode([text])
        expect(vector).toHaveLength(lexicalEncoder.dims)
        expect(dot(vector!, vector!)).toBeCloseTo(1, 5)
      }),
    )
  })

  test('a text has the same vector alone and in a batch', async () => {
    const texts = ['first text', '', 'second text', 'first text']
    const together = await lexicalEncoder.encode(texts)
    const alone = await Promise.all(texts.map(async (text) => (await lexicalEncoder.encode([text]))[0]!))
    expect(together).toEqual(alone)
    expect(await lexicalEncoder.encode([])).toEqual([])
  })

  test('empty text and white space share one well-defined vector', async () => {
    const [empty, blank] = await lexicalEncoder.encode(['', ' \n\t '])
    expect(empty).toEqual(blank)
    expect([...empty!]).toEqual([1, ...new Array<number>(383).fill(0)])
  })

  test('the bits are pinned, because trained weights depend on them', async () => {
    const vectors = await lexicalEncoder.encode(fixedTexts)
    const bytes = createHash('sha256')
    for (const vector of vectors) {
      const little = new DataView(new ArrayBuffer(vector.length * 4))
      for (const [index, entry] of vector.entries()) little.setFloat32(index * 4, entry, true)
      bytes.update(new Uint8Array(little.buffer))
    }
    // If you change this on purpose, raise the version in the settings so that the fingerprint changes too.
    expect(bytes.digest('hex')).toBe('b67df4ff55b8370d0878b1bf1fdcfedfc45147db383affba1a636aef47c9b6b1')
    expect(lexicalEncoder.fingerprint).toBe(
      '2c32d40950a974b1e1652c780ca6ffb38d78789be8b699e9f1fb35b03d4ba93e',
    )
  })
})

describe('similarity', () => {
  const triples: [text: string, similar: string, unrelated: string][] = [
    [
      'What is the capital of France?',
      'Which city is the capital of France?',
      'How many apples does Tom have left after the picnic?',
    ],
    [
      'Compute the percentage growth of revenue from 2018 to 2019.',
      'What was the percent increase in revenues between 2018 and 2019?',
      'Which enzyme breaks down lactose in the human gut?',
    ],
    [
      'Write a Python function that sorts a list of integers.',
      'Implement a function in Python sorting integer lists',
      'The patient presents with fever, a rash and swollen joints.',
    ],
    [
      'Check the calculation and the unit of every intermediate result.',
      'Audits calculations: recompute each intermediate value and verify its unit.',
      'Find the passages of the text that support the claim.',
    ],
    ['photosynthesis in plants', 'photosynthetic plant', 'the theory of contract law'],
    ['What is 17 + 25 * 3?', 'Evaluate 17 + 25 * 4', 'Was Napoleon taller than his generals?'],
    [
      'Wie hoch ist der Umsatz des Unternehmens?',
      'Umsatz der Unternehmen in Millionen',
      'Welche Farbe hat der Himmel?',
    ],
    ['速度と加速度の関係を求めよ', '加速度と速度の関係', '江戸時代の文学について述べよ'],
  ]

  test.each(triples)('%s', async (...texts) => {
    const [text, similar, unrelated] = await lexicalEncoder.encode(texts)
    expect(dot(text!, similar!)).toBeGreaterThan(dot(text!, unrelated!) + 0.1)
  })

  test('questions are closer to their own kind on average', async () => {
    const kinds = [
      [
        'Write a function that returns the sum of all even numbers in a list.',
        'Write a function that returns true if a string is a palindrome.',
        'Return the list of numbers sorted in descending order.',
      ],
      [
        'Which reagent oxidises a primary alcohol to an aldehyde?',
        'What is the oxidation state of manganese in potassium permanganate?',
        'Which alcohol gives an aldehyde when it is oxidised?',
      ],
      [
        'What was the change in total revenue in fiscal year 2019?',
        'What is the average total operating revenue for 2018 and 2019?',
        'In which fiscal year was total revenue above 100 million?',
      ],
    ]
    const vectors = await Promise.all(kinds.map((questions) => lexicalEncoder.encode(questions)))
    for (const [kind, own] of vectors.entries()) {
      const within = own.flatMap((a, index) => own.slice(index + 1).map((b) => dot(a, b)))
      const across = own.flatMap((a) =>
        vectors.flatMap((other, index) => (index === kind ? [] : other)).map((b) => dot(a, b)),
      )
      expect(mean(within)).toBeGreaterThan(mean(across) + 0.1)
    }
  })

  test('case, width and Unicode composition do not matter; word order matters a little', async () => {
    const [plain, shouted, fullWidth, composed, decomposed] = await lexicalEncoder.encode([
      'straße café',
      'STRASSE CAFÉ',
      'ｓｔｒａｓｓｅ　ｃａｆé',
      'ΣΊΣΥΦΟΣ naïve',
      'σίσυφος nai\u0308ve',
    ])
    expect(shouted).toEqual(plain)
    expect(fullWidth).toEqual(plain)
    expect(decomposed).toEqual(composed)
    const [one, other] = await lexicalEncoder.encode(['solver before critic', 'critic before solver'])
    expect(dot(one!, other!)).toBeGreaterThan(0.8)
    expect(one).not.toEqual(other)
  })

  test('repeating a word has a diminishing effect', async () => {
    const encodeRepeated = async (times: number) =>
      (await lexicalEncoder.encode([`${'alpha '.repeat(times)}beta gamma`]))[0]!
    const [once, twice, thrice] = await Promise.all([1, 2, 3].map(encodeRepeated))
    expect(dot(twice!, thrice!)).toBeGreaterThan(dot(once!, twice!))
  })
})

describe('long texts', () => {
  test('are read to the end', async () => {
    const filler = 'lorem ipsum dolor sit amet '.repeat(200)
    const [about, other, end] = await lexicalEncoder.encode([
      `${filler}photosynthesis chlorophyll sunlight`,
      filler,
      'photosynthesis chlorophyll sunlight',
    ])
    expect(dot(about!, end!)).toBeGreaterThan(dot(other!, end!))
  })

  test('an endless run of letters is cut, not refused', async () => {
    const [vector] = await lexicalEncoder.encode(['x'.repeat(200_000)])
    expect(dot(vector!, vector!)).toBeCloseTo(1, 5)
  })
})

describeShared('real questions', () => {
  test('most questions have their nearest neighbour in their own subject, out of three', async () => {
    const lines = readFileSync(sharedPath('data', 'mmlu_pro', 'test.jsonl'), 'utf8')
      .trim()
      .split('\n')
    const records: { category: string; question: string; options: string[] }[] = lines.map((line) =>
      JSON.parse(line),
    )
    const chosen = ['law', 'physics', 'psychology'].flatMap((subject) =>
      records.filter(({ category }) => category === subject).slice(0, 60),
    )
    const vectors = await lexicalEncoder.encode(
      chosen.map(({ question, options }) => [question, ...options].join('\n')),
    )
    const right = chosen.filter(({ category }, index) => {
      const scores = vectors.map((vector, other) => (other === index ? -1 : dot(vector, vectors[index]!)))
      return chosen[scores.indexOf(Math.max(...scores))]!.category === category
    })
    expect(chosen).toHaveLength(180)
    expect(right.length / chosen.length).toBeGreaterThan(0.7)
  })
})

const fixedTexts = [
  '',
  'What is the capital of France?',
  'f(x) = 3x^2 + 2; find f’(1)',
  'Größe 数学 ﬁ Ⅳ 🤖 e\u0301',
  'one two three '.repeat(300),
]

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, entry, index) => sum + entry * b[index]!, 0)
}
