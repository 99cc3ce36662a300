import { createHash } from 'node:crypto'
import { PythonRandom, poolLimit } from '../src/python/random.ts'
import type { CaseResult } from './case.ts'
import { difference } from './difference.ts'

type Whole = number | bigint

interface RandomFile {
  random?: { seed: Whole; first20: number[] }[]
  getrandbits?: { seed: Whole; bits: number[]; values: string[] }[]
  randrange?: { seed: Whole; n: Whole[]; values: Whole[] }[]
  sample?: SampleCase[]
  sample_edges?: SampleCase[]
  shuffle?: { seed: Whole; n: number; first50: number[]; sha256: string }[]
}

interface SampleCase {
  seed: Whole
  n: number
  k: number
  algorithm: 'pool' | 'set'
  values: number[]
  sha256: string
}

export function* runRandomCases(content: object, file: string): Generator<CaseResult> {
  const cases = content as RandomFile
  for (const { seed, first20 } of cases.random ?? []) {
    const random = new PythonRandom(seed)
    const drawn = first20.map(() => random.random())
    yield caseOf(`${file} random seed ${seed}`, [first20, drawn])
  }
  for (const { seed, bits, values } of cases.getrandbits ?? []) {
    const random = new PythonRandom(seed)
    const drawn = bits.map((count) => random.getrandbits(count).toString())
    yield caseOf(`${file} getrandbits seed ${seed}`, [values, drawn])
  }
  for (const { seed, n, values } of cases.randrange ?? []) {
    const random = new PythonRandom(seed)
    const drawn = n.map((limit) =>
      typeof limit === 'bigint' ? random.randrange(limit) : random.randrange(limit),
    )
    yield caseOf(`${file} randrange seed ${seed}`, [values.map(String), drawn.map(String)])
  }
  for (const section of ['sample', 'sample_edges'] as const)
    for (const { seed, n, k, algorithm, values, sha256 } of cases[section] ?? []) {
      const drawn = new PythonRandom(seed).sample(n, k)
      yield caseOf(
        `${file} ${section} seed ${seed} n ${n} k ${k}`,
        [algorithm, n <= poolLimit(k) ? 'pool' : 'set'],
        [values, drawn.slice(0, values.length)],
        [sha256, digestOf(drawn)],
      )
    }
  for (const { seed, n, first50, sha256 } of cases.shuffle ?? []) {
    const shuffled = new PythonRandom(seed).shuffle(Array.from({ length: n }, (_, index) => index))
    yield caseOf(
      `${file} shuffle seed ${seed} n ${n}`,
      [first50, shuffled.slice(0, first50.length)],
      [sha256, digestOf(shuffled)],
    )
  }
}

function digestOf(values: readonly number[]): string {
  return createHash('sha256').update(values.join(',')).digest('hex')
}

/** A case of pairs (expected, actual); the first difference is its failure. */
function caseOf(name: string, ...pairs: [expected: unknown, actual: unknown][]): CaseResult {
  for (const [expected, actual] of pairs) {
    const failure = difference(expected, actual)
    if (failure !== undefined) return { name, failure }
  }
  return { name }
}
