import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deriveRandom } from '../numerics/random.ts'
import { evaluationsOf, halvingRounds, successiveHalving } from './successive-halving.ts'

describe('the rounds', () => {
  test('start with about 1/37 of the evaluations as candidates and cost about the same each', () => {
    const rounds = halvingRounds(200, 8000)
    expect(rounds).toEqual([
      { candidates: 214, questions: 13 },
      { candidates: 107, questions: 25 },
      { candidates: 53, questions: 50 },
      { candidates: 26, questions: 100 },
      { candidates: 13, questions: 200 },
    ])
    expect(evaluationsOf(rounds)).toBe(7991)
  })

  test('never exceed the budget, use most of it, and end with all questions', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), fc.nat(20_000), (questions, evaluations) => {
        const rounds = halvingRounds(questions, evaluations)
        if (rounds.length === 0) return void expect(evaluations).toBeLessThan(2 * questions)
        expect(evaluationsOf(rounds)).toBeLessThanOrEqual(evaluations)
        expect(evaluationsOf(rounds)).toBeGreaterThan(evaluations - 3 * questions)
        expect(rounds.at(-1)!.questions).toBe(questions)
        for (const [position, { candidates }] of rounds.entries())
          expect(candidates).toBeGreaterThanOrEqual(rounds[position + 1]?.candidates ?? 2)
      }),
    )
  })

  test('are empty when two candidates cannot be compared', () => {
    expect(halvingRounds(10, 19)).toEqual([])
    expect(halvingRounds(10, 20)).not.toEqual([])
    expect(halvingRounds(10, 0)).toEqual([])
  })
})

describe('the search', () => {
  const questions = Array.from({ length: 32 }, (_, index) => index)
  const rounds = halvingRounds(32, 400)

  /** Candidates score 1 with their own value as probability. */
  const scoreOf = (candidate: number, question: number) =>
    deriveRandom('halving', candidate, question).uniform() < candidate ? 1 : 0

  test('finds a candidate that stands out, asks for no pair twice, and for a whole round at once', async () => {
    const candidates = Array.from({ length: rounds[0]!.candidates }, (_, index) => index / 200)
    const best = [...candidates.slice(0, 30), 0.95, ...candidates.slice(31)]
    const asked: string[] = []
    const sizes: number[] = []
    const found = await successiveHalving(best, questions, rounds, async (pairs) => {
      sizes.push(pairs.length)
      return pairs.map(([candidate, question]) => {
        asked.push(`${candidate} ${question}`)
        return { score: scoreOf(candidate, question) }
      })
    })
    expect(found.candidate).toBe(0.95)
    expect(found.score).toBe(questions.filter((question) => scoreOf(0.95, question) === 1).length)
    expect(new Set(asked).size).toBe(asked.length)
    expect(asked).toHaveLength(evaluationsOf(rounds))
    expect(sizes).toHaveLength(rounds.length)
  })

  test('breaks ties by fewer tokens, then by order', async () => {
    const tokens: Record<string, number> = { dear: 900, cheap: 300, alike: 300 }
    const found = await successiveHalving(['dear', 'cheap', 'alike'], questions, rounds, async (pairs) =>
      pairs.map(([name]) => ({ score: 1, usage: { calls: 1, tokens: tokens[name]! } })),
    )
    expect(found).toEqual({ candidate: 'cheap', score: 32, tokens: 32 * 300 })
  })

  test('stops when an evaluation fails', async () => {
    const failing = () => Promise.reject(new Error('no more'))
    await expect(successiveHalving([1, 2], questions, rounds, failing)).rejects.toThrow('no more')
  })
})
