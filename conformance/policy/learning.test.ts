import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeShared, sharedPath } from '../../test/shared.ts'
import { learningCases } from './learning.ts'

type Json = { [key: string]: Json } & Json[]

/** One golden case and one golden expansion, small enough to check by hand. */
function handmade(): Json {
  const units = [{ role: 3, realization: 'group', predecessors: [] }]
  return {
    cases: [
      {
        name: 'one group against an immediate stop',
        reward: {
          alpha: 1,
          beta: 0.5,
          gamma_r: 0.05,
          eta: 0.5,
          kappa: 1,
          w_n: 1,
          w_e: 1,
          b_n: 2,
          b_e: 6,
          epsilon: 1e-8,
        },
        max_units: 1,
        trajectories: [
          {
            steps: [{ units, parent_scores: [0], child_scores: [1] }],
            terminal_score: 1,
            forced_stop: true,
          },
          { steps: [], terminal_score: 0, forced_stop: false },
        ],
        expected: {
          trajectories: [
            {
              // d_t = 1 · 1/2 − 0.5 · (4 − 2) = −0.5, stored reward 0.5 · −0.5
              steps: [
                { delta_u: 0.5, c: 2, d: 0, delta_c: 2, delta_d: 0, d_t: -0.5, phi: -0.5, reward: -0.25 },
              ],
              terminal_reward: 1,
              terminal_shaping_reward: 0.5,
              returns: [0.5, 1.5],
            },
            { steps: [], terminal_reward: 0, terminal_shaping_reward: 0, returns: [0] },
          ],
          advantages: [[1, 0], [-1]],
        },
      },
    ],
    expansions: [
      { units, expected: { nodes: 4, edges: 3, depth: 2, exit_depths: [2], sink_units: [0], c: 0, d: 0 } },
    ],
  } as unknown as Json
}

const failures = (file: unknown) => [...learningCases(file, 'file')].map(({ failure }) => failure)

describeShared('shared goldens for rewards, returns, advantages and expansion', () => {
  const file = JSON.parse(readFileSync(sharedPath('conformance/policy/learning.json'), 'utf8'))

  test('all pass', () => {
    const results = [...learningCases(file, 'learning.json')]
    expect(results.filter(({ failure }) => failure !== undefined)).toEqual([])
    expect(results).toHaveLength(file.cases.length + file.expansions.length)
  })

  test('perturbing any expectation fails its case (first dozen)', () => {
    for (const golden of file.cases.slice(0, 12)) {
      for (const path of numberPaths(golden.expected)) {
        const perturbed = structuredClone(golden)
        perturb(perturbed.expected, path)
        expect(failures({ cases: [perturbed] }), `${golden.name} ${path.join('.')}`).toEqual([
          expect.any(String),
        ])
      }
    }
  })
})

test('a case computed by hand passes', () => {
  expect(failures(handmade())).toEqual([undefined, undefined])
})

test('perturbing any number fails that case by name', () => {
  for (const [list, untouched] of [
    ['cases', 'expansions'],
    ['expansions', 'cases'],
  ] as const) {
    for (const path of numberPaths(handmade()[list]![0]!['expected']!)) {
      const file = handmade()
      perturb(file[list]![0]!['expected']!, path)
      expect(failures({ [list]: file[list] }), path.join('.')).toEqual([
        expect.stringContaining(`${path[0]}`),
      ])
      expect(failures({ [untouched]: file[untouched] })).toEqual([undefined])
    }
  }
})

test('counts and d are exact; other values have a tolerance', () => {
  const nudged = (list: 'cases' | 'expansions', path: (string | number)[], by: number) => {
    const file = handmade()
    perturb(file[list]![0]!['expected']!, path, by)
    return failures(file).some((failure) => failure !== undefined)
  }
  expect(nudged('expansions', ['d'], 1e-12)).toBe(true)
  expect(nudged('expansions', ['nodes'], 1e-12)).toBe(true)
  expect(nudged('cases', ['trajectories', 0, 'steps', 0, 'd'], 1e-12)).toBe(true)
  expect(nudged('cases', ['trajectories', 0, 'steps', 0, 'phi'], 1e-9)).toBe(false)
  expect(nudged('cases', ['trajectories', 0, 'steps', 0, 'phi'], 1e-7)).toBe(true)
  expect(nudged('cases', ['advantages', 0, 0], 5e-7)).toBe(false)
  expect(nudged('cases', ['advantages', 0, 0], 2e-6)).toBe(true)
})

test('an unreadable or incomputable file is a failing case, not an exception', () => {
  expect(failures(null)).toEqual(['it has neither cases nor expansions'])
  expect(failures({ cases: [{ name: 'half' }] })).toEqual([expect.stringContaining('malformed: reward')])
  const unchecked = handmade()
  unchecked['expansions']![0]!['expected']!['another'] = 1 as unknown as Json
  expect(failures(unchecked)[1]).toContain('another')
  const unpaired = handmade()
  unpaired['cases']![0]!['trajectories']![0]!['steps']![0]!['child_scores'] = [] as unknown as Json
  expect(failures(unpaired)[0]).toContain('0 child scores for 1 probes')
  const unrelated = handmade()
  const steps = unrelated['cases']![0]!['trajectories']![0]!['steps'] as unknown as { units: unknown[] }[]
  steps[0]!.units.unshift({ role: 0, realization: 'atomic', predecessors: [] })
  expect(failures(unrelated)[0]).toContain('steps[0].units do not extend')
})

function* numberPaths(value: unknown, path: (string | number)[] = []): Generator<(string | number)[]> {
  if (typeof value === 'number') yield path
  else if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) yield* numberPaths(entry, [...path, index])
  } else {
    for (const [key, entry] of Object.entries(value as object)) yield* numberPaths(entry, [...path, key])
  }
}

function perturb(expected: Json, path: (string | number)[], by = 0.001): void {
  const holder = path.slice(0, -1).reduce((value, key) => value[key as number]!, expected)
  const numbers = holder as unknown as Record<string | number, number>
  numbers[path.at(-1)!]! += by
}
