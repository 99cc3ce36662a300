import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { noUsage } from '../models/usage.ts'
import { compareOrganisations } from './compare-organisations.ts'
import { type OrganisationReport, organisationReport, type QuestionRecord } from './organisation-report.ts'
import { pairedBootstrap } from './statistics.ts'

function record(task: string, score: number, tokens: number): QuestionRecord {
  return {
    task,
    graph: { units: [] },
    graphKey: 'empty',
    score,
    parse: 'ok',
    status: 'answered',
    answer: '1',
    failures: [],
    usage: { ...noUsage, input: tokens - 1, output: 1, calls: 1, attempts: 1 },
    cost: { amount: tokens / 1000, currency: 'EUR' },
    durationMs: 1,
    execution: `${task}-execution`,
  }
}

function report(name: string, records: readonly QuestionRecord[]): OrganisationReport {
  const about = { organisation: name, description: `${name}.`, split: 'test', tasks: records.length }
  return organisationReport(about, records)
}

const direct = report('direct', [record('a', 0, 10), record('b', 1, 10), record('c', 0, 20)])
const chain = report('chain', [
  record('c', 1, 60),
  record('a', 1, 30),
  record('b', 0.5, 30),
  record('d', 0, 9),
])

describe('a report compared with its base', () => {
  const rows = compareOrganisations([direct, chain], { seed: 3 })

  test('the base has its own figures and no comparison', () => {
    expect(rows[0]).toMatchObject({ organisation: 'direct', n: 3, score: direct.score, cost: direct.cost })
    expect(rows[0]!.against).toBeUndefined()
  })

  test('another report is compared on the shared questions', () => {
    const { difference, low, high, probability } = pairedBootstrap([1, 1, 0.5], [0, 0, 1], { seed: 3 })
    expect(rows[1]).toMatchObject({ organisation: 'chain', n: 4, tokens: chain.tokens })
    expect(rows[1]!.against).toEqual({
      base: 'direct',
      questions: 3,
      difference,
      low,
      high,
      probability,
      // Three questions are too few to show anything.
      detectable: 1,
      wins: 2,
      losses: 1,
      ties: 0,
      tokenRatio: 3,
    })
  })

  test('any report can be the base', () => {
    const [first, second] = compareOrganisations([direct, chain], { base: 1 })
    expect(first!.against).toMatchObject({ base: 'chain', wins: 1, losses: 2, tokenRatio: 1 / 3 })
    expect(second!.against).toBeUndefined()
  })
})

test('reports without shared questions have no comparison', () => {
  const other = report('other', [record('z', 1, 5)])
  expect(compareOrganisations([direct, other])[1]!.against).toBeUndefined()
})

test('a base without token counts gives no ratio', () => {
  const silent = report('silent', [{ ...record('a', 1, 1), usage: noUsage }])
  expect(compareOrganisations([silent, direct])[1]!.against!.tokenRatio).toBeUndefined()
})

test('a report compared with itself is all ties', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 }), (scores) => {
      const same = report(
        'same',
        scores.map((score, index) => record(`t${index}`, score, 7)),
      )
      const [, row] = compareOrganisations([same, same], { resamples: 50 })
      expect(row!.against).toMatchObject({
        difference: 0,
        low: 0,
        high: 0,
        ties: scores.length,
        tokenRatio: 1,
      })
    }),
  )
})

test('a missing base is refused', () => {
  expect(() => compareOrganisations([direct], { base: 1 })).toThrow('no report 1')
  expect(() => compareOrganisations([])).toThrow('there are 0')
})
