import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { failed, final, fitting, type Heard, ScriptedModel } from '../../test/scripted-model.ts'
import { tinyExecutor, tinyTaskSet } from '../../test/tiny-task-set.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import { graphKey } from '../graph/graph-key.ts'
import type { Task } from '../library/task.ts'
import { CallLimit } from '../models/call-limit.ts'
import { ModelRefusedError, ModelUnreachableError } from '../models/stop-error.ts'
import type { Organiser } from '../organisations/organisation.ts'
import { executionSettings } from '../settings/execution.ts'
import type { TaskExecutor } from '../tasks/task-executor.ts'
import { splitOf } from '../tasks/task-set.ts'
import {
  chainOrganisation,
  directOrganisation,
  parallelOrganisation,
  randomOrganisation,
} from './baseline-organisations.ts'
import {
  evaluateOrganisation,
  NothingEvaluatedError,
  type OrganisationEvaluation,
} from './evaluate-organisation.ts'
import type { QuestionRecord } from './organisation-report.ts'

const limits = { maxUnits: 3, maxDepth: 4 }
const { library } = tinyTaskSet
const { tasks, references } = splitOf(tinyTaskSet, 'test')
const ids = tasks.map(({ id }) => id)
const direct = directOrganisation()

const evaluate = (executor: TaskExecutor, more: Partial<OrganisationEvaluation> = {}) =>
  evaluateOrganisation({ executor, split: 'test', organisation: direct, ...more })

/** The question a request is about. */
function taskOf({ message }: Heard): Task {
  const { question } = message['task'] as { question: string }
  return tasks.find((task) => task.question === question)!
}

const rightAnswer = (task: Task) => references.get(task.id)!.text

describe('on the simulated model', () => {
  test.each<[string, Organiser, number]>([
    ['direct', direct, 1],
    ['chain', chainOrganisation(library, limits), 4],
    ['parallel', parallelOrganisation(library), 7],
  ])('%s: figures follow from the records', async (name, organisation, calls) => {
    const report = await evaluate(tinyExecutor(), { organisation })
    expect(report).toMatchObject({ organisation: name, split: 'test', n: 16, total: 16, complete: true })
    expect(report.records.map(({ task }) => task)).toEqual(ids)
    const mean = (of: (record: QuestionRecord) => number) =>
      report.records.reduce((sum, record) => sum + of(record), 0) / 16
    expect(report.score.mean).toBe(mean(({ score }) => score))
    expect(report.score.low).toBeLessThan(report.score.mean)
    expect(report.tokens.input).toBe(mean(({ usage }) => usage.input))
    expect(report.tokens.output).toBe(mean(({ usage }) => usage.output))
    expect(report.tokens.total).toBe(report.tokens.input + report.tokens.output)
    expect(report.calls).toBeGreaterThanOrEqual(calls)
    expect(report.usage.calls).toBe(report.calls * 16)
    expect(report.units).toEqual({ mean: (await organisation.graphFor(tasks[0]!)).size, groups: 0 })
    expect(report.cost).toBe('unpriced')
    expect(report.measures).toEqual({})
    for (const { score, answer, task } of report.records)
      expect(score).toBe(answer === references.get(task)!.text ? 1 : 0)
  })

  test('results do not depend on the number of concurrent questions and calls', async () => {
    const organisation = randomOrganisation(library, limits, 1)
    const told = async (inFlight: number, calls: number) => {
      const { records, ...figures } = await evaluate(tinyExecutor({ limit: new CallLimit(calls) }), {
        organisation,
        inFlight,
      })
      const timeless = records.map(({ durationMs: _, execution: __, ...record }) => record)
      return { ...figures, durationMs: 0, records: timeless }
    }
    const alone = await told(1, 1)
    expect(alone.units.groups).toBeGreaterThan(0)
    expect(await told(3, 8)).toEqual(alone)
    expect(await told(64, 64)).toEqual(alone)
  })

  test('a record is plain data that names its graph', async () => {
    const organisation = chainOrganisation(library, limits)
    const [record] = (await evaluate(tinyExecutor(), { organisation, tasks: 1 })).records
    expect(JSON.parse(JSON.stringify(record))).toEqual(record)
    expect(graphKey(AgentGraph.of(record!.graph.units))).toBe(record!.graphKey)
    expect(record).not.toHaveProperty('reused')
  })
})

/** Answers every question correctly, with a latency that varies from call to call. */
function slowModel() {
  let calls = 0
  return new ScriptedModel(async (heard) => {
    calls += 1
    for (let wait = (calls * 7) % 5; wait > 0; wait -= 1) await turn()
    return fitting(heard, 'Counted.', rightAnswer(taskOf(heard)))
  })
}

describe('order and reuse', () => {
  test('records are emitted as they finish and reported in task order', async () => {
    const heard: string[] = []
    let telling = 0
    const report = await evaluate(tinyExecutor({ model: slowModel() }), {
      onRecord: async ({ task }, { done, total }) => {
        telling += 1
        expect(telling).toBe(1)
        await turn()
        telling -= 1
        heard.push(task)
        expect({ done, total }).toEqual({ done: heard.length, total: 16 })
      },
    })
    expect(heard).not.toEqual(ids)
    expect([...heard].sort()).toEqual([...ids].sort())
    expect(report.records.map(({ task }) => task)).toEqual(ids)
    expect(report.score).toMatchObject({ mean: 1, high: 1 })
  })

  test('a second evaluation repeats every call', async () => {
    const model = slowModel()
    const executor = tinyExecutor({ model })
    await evaluate(executor)
    await evaluate(executor)
    expect(model.heard).toHaveLength(32)
  })

  test('the limit on concurrent questions holds', async () => {
    let working = 0
    let most = 0
    const organisation: Organiser = {
      ...direct,
      graphFor: () => {
        working += 1
        most = Math.max(most, working)
        return AgentGraph.empty
      },
    }
    const onRecord = () => {
      working -= 1
    }
    await evaluate(tinyExecutor({ model: slowModel() }), { organisation, onRecord, inFlight: 3 })
    expect(most).toBe(3)
    const limit = new CallLimit(2)
    await evaluate(tinyExecutor({ model: slowModel(), limit }), { organisation, onRecord })
    expect(most).toBe(8)
  })
})

describe('failures count', () => {
  test('an unanswered question scores zero, is named, and counts in the denominator', async () => {
    const model = new ScriptedModel((heard) =>
      taskOf(heard).id === ids[0] ? 'no JSON at all' : final('Counted.', rightAnswer(taskOf(heard))),
    )
    const report = await evaluate(tinyExecutor({ model }))
    expect(report.score.mean).toBe(15 / 16)
    expect(report.failures).toEqual({ unanswered: 1, nodes: 1 })
    expect(report.records[0]).toMatchObject({ score: 0, parse: 'invalid', status: 'unanswered' })
    expect(report.records[0]!.failures).toMatchObject([{ node: 'direct', status: 'format_failure' }])
    expect(report.records[0]).not.toHaveProperty('answer')
  })

  test('a failed node is counted even when other nodes recover', async () => {
    const model = new ScriptedModel((heard) =>
      heard.executor.role === 'logic_reasoner'
        ? failed('rejected')
        : fitting(heard, 'Counted.', rightAnswer(taskOf(heard))),
    )
    const organisation = parallelOrganisation(library)
    const report = await evaluate(tinyExecutor({ model }), { organisation })
    expect(report.score.mean).toBe(1)
    expect(report.failures).toEqual({ unanswered: 0, nodes: 16 })
  })

  test('an unreachable endpoint is not a wrong answer: the evaluation stops and keeps its answers', async () => {
    const clock = { now: () => 0, sleep: async () => {} }
    const gone = new ScriptedModel((heard) =>
      heard.message === undefined || taskOf(heard).id === ids[3]
        ? failed('network', 'ECONNREFUSED')
        : final('Counted.', rightAnswer(taskOf(heard))),
    )
    const heard: string[] = []
    const onRecord = ({ task }: { task: string }) => void heard.push(task)
    const stopped = evaluate(tinyExecutor({ model: gone, clock }), { onRecord, inFlight: 1 })
    await expect(stopped).rejects.toThrow(/could not be reached .* ECONNREFUSED\. Check the endpoint/)
    expect(heard).toEqual(ids.slice(0, 3))
  })

  test('a question hit by a network failure is asked again, and both tries are paid for', async () => {
    const clock = { now: () => 0, sleep: async () => {} }
    let failures = 0
    const shaky = new ScriptedModel((heard) => {
      // All four attempts of the first try.
      if (taskOf(heard).id === ids[0] && failures < 4) {
        failures += 1
        return failed('server_error')
      }
      return final('Counted.', rightAnswer(taskOf(heard)))
    })
    const report = await evaluate(tinyExecutor({ model: shaky, clock }), { inFlight: 1 })
    expect(report.score.mean).toBe(1)
    expect(report.records[0]!.usage).toMatchObject({ calls: 2, attempts: 5, failedAttempts: 4 })
  })

  test('a question is also asked again when other nodes recovered from the network failure', async () => {
    const clock = { now: () => 0, sleep: async () => {} }
    let failures = 0
    const shaky = new ScriptedModel((heard) => {
      if (heard.executor.role === 'logic_reasoner' && taskOf(heard).id === ids[0] && failures < 4) {
        failures += 1
        return failed('bad_response')
      }
      return fitting(heard, 'Counted.', rightAnswer(taskOf(heard)))
    })
    const organisation = parallelOrganisation(library)
    const report = await evaluate(tinyExecutor({ model: shaky, clock }), { organisation })
    expect(failures).toBe(4)
    expect(report.failures).toEqual({ unanswered: 0, nodes: 0 })
  })

  test('a question that times out is not a wrong answer either', async () => {
    const silent = new ScriptedModel(() => new Promise<never>(() => {}))
    const settings = executionSettings.parse({ executionSeconds: 0.01 })
    const records: unknown[] = []
    const onRecord = (record: unknown) => void records.push(record)
    const stopped = evaluate(tinyExecutor({ model: silent, settings }), { onRecord })
    await expect(stopped).rejects.toThrow(ModelUnreachableError)
    expect(records).toEqual([])
  })

  test("by the paper's rule a transport failure without an answer scores 0, and a recovered one counts", async () => {
    const clock = { now: () => 0, sleep: async () => {} }
    const shaky = new ScriptedModel((heard) => {
      const { id } = taskOf(heard)
      const isDirect = heard.executor.role === 'finalizer'
      if (id === ids[0] || (id === ids[1] && !isDirect)) return failed('server_error')
      return fitting(heard, 'Counted.', rightAnswer(taskOf(heard)))
    })
    const organisation = parallelOrganisation(library)
    const report = await evaluate(tinyExecutor({ model: shaky, clock }), {
      organisation,
      transportFailures: 'zero',
    })
    expect(report).toMatchObject({ n: 16, score: { mean: 15 / 16 } })
    expect(report.statuses).toEqual({ answered: 15, unanswered: 1 })
    expect(report.records[0]).toMatchObject({ score: 0, status: 'unanswered' })
    expect(report.records[0]!.failures[0]).toMatchObject({ status: 'model_failure' })
    expect(report.records[1]).toMatchObject({ score: 1, status: 'answered' })
  })

  test('measures are means over all questions, including unanswered ones', async () => {
    const model = new ScriptedModel((heard) =>
      taskOf(heard).id === ids[0] ? 'no JSON at all' : final('Counted.', rightAnswer(taskOf(heard))),
    )
    const score = () => ({ score: 0.5, parse: 'ok', measures: { em: 1 } }) as const
    const set = { ...tinyTaskSet, scorer: { version: 'halves', score } }
    const report = await evaluate(tinyExecutor({ model, set }))
    expect(report.score.mean).toBe(15 / 32)
    expect(report.measures).toEqual({ em: 15 / 16 })
  })

  test('cost is summed when there is a price', async () => {
    const settings = executionSettings.parse({
      prices: {
        'scripted/m': { currency: 'EUR', asOf: '2026-01', input: 100_000, cachedInput: 0, output: 200_000 },
      },
    })
    // 6 uncached input tokens and 5 output tokens per question.
    const report = await evaluate(tinyExecutor({ model: slowModel(), settings }))
    expect(report.cost).toMatchObject({ currency: 'EUR', amount: expect.closeTo(16 * 1.6, 9) })
    expect(report.tokens).toEqual({ input: 10, output: 5, total: 15 })
  })
})

describe('stopping early', () => {
  test('a spent budget starts nothing new, and the report is marked incomplete', async () => {
    const model = slowModel()
    const budget = { exhausted: () => model.heard.length >= 5 }
    const report = await evaluate(tinyExecutor({ model }), { budget, inFlight: 2 })
    expect(report.complete).toBe(false)
    expect(report.total).toBe(16)
    expect(report.n).toBe(model.heard.length)
    expect(report.n).toBeLessThan(7)
  })

  test('a signal cancels running work and leaves no record of it', async () => {
    const stop = new AbortController()
    const model = new ScriptedModel(async (heard, signal) => {
      if (model.heard.length <= 3) return final('Counted.', rightAnswer(taskOf(heard)))
      stop.abort()
      await turn()
      return signal?.aborted ? failed('cancelled') : 'too late'
    })
    const heard: QuestionRecord[] = []
    const report = await evaluate(tinyExecutor({ model }), {
      signal: stop.signal,
      inFlight: 1,
      onRecord: (record) => void heard.push(record),
    })
    expect(report).toMatchObject({ n: 3, complete: false, failures: { unanswered: 0 } })
    expect(heard).toEqual(report.records)
  })

  test('resuming repeats nothing, and the result equals an uninterrupted one', async () => {
    const whole = await evaluate(tinyExecutor())
    const done = new Map(whole.records.slice(4, 10).map((record) => [record.task, record]))
    const model = slowModel()
    const fresh: string[] = []
    const report = await evaluate(tinyExecutor({ model }), {
      done,
      onRecord: ({ task }, progress) => {
        fresh.push(task)
        expect(progress.done).toBe(6 + fresh.length)
      },
    })
    expect(model.heard).toHaveLength(10)
    expect(fresh).not.toContain(ids[4])
    expect(report.records.map(({ task }) => task)).toEqual(ids)
    expect(report.records.slice(4, 10)).toEqual(whole.records.slice(4, 10))
    expect(report.complete).toBe(true)
  })

  test('records of other questions are ignored', async () => {
    const { records } = await evaluate(tinyExecutor(), { tasks: 3 })
    const done = new Map(records.map((record) => [record.task, record]))
    const report = await evaluate(tinyExecutor(), { tasks: 2, done })
    expect(report).toMatchObject({ n: 2, total: 2, complete: true })
  })

  test.each(['unauthorized', 'payment_required', 'forbidden', 'quota_exhausted'] as const)(
    'a permanent model error (%s) stops everything at once',
    async (kind) => {
      const model = new ScriptedModel((heard) =>
        model.heard.length > 4 ? failed(kind, 'It says no') : final('Counted.', rightAnswer(taskOf(heard))),
      )
      const heard: QuestionRecord[] = []
      const evaluating = evaluate(tinyExecutor({ model }), {
        inFlight: 2,
        onRecord: (record) => void heard.push(record),
      })
      const error: unknown = await evaluating.catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(ModelRefusedError)
      expect(error).toMatchObject({ kind, message: expect.stringContaining('It says no') })
      expect(heard.map(({ score }) => score)).toEqual([1, 1, 1, 1])
      expect(model.heard.length).toBeLessThan(8)
    },
  )

  test('a failing listener, as on a full disk, stops it with the listener’s error', async () => {
    const model = slowModel()
    const limit = new CallLimit(2)
    const full = new Error('no space left')
    const evaluating = evaluate(tinyExecutor({ model, limit }), {
      inFlight: 2,
      onRecord: () => {
        throw full
      },
    })
    await expect(evaluating).rejects.toBe(full)
    expect(model.heard.length).toBeLessThan(5)
    expect(limit.inFlight).toBe(0)
  })

  test('scoring interrupted by the signal gives no score', async () => {
    const stop = new AbortController()
    const scorer = {
      version: 'long',
      score: async (_answer: unknown, _reference: unknown, { signal }: { signal?: AbortSignal }) => {
        stop.abort()
        throw signal!.reason
      },
    }
    const executor = tinyExecutor({ model: slowModel(), set: { ...tinyTaskSet, scorer } })
    await expect(evaluate(executor, { signal: stop.signal })).rejects.toThrow(NothingEvaluatedError)
  })

  test('without any record there is no score', async () => {
    const spent = { exhausted: () => true }
    await expect(evaluate(tinyExecutor(), { budget: spent })).rejects.toThrow(NothingEvaluatedError)
  })

  test.each([{ tasks: 0 }, { tasks: -1 }, { tasks: 1.5 }, { inFlight: 0 }])(
    'an invalid number of questions is refused: %j',
    async (given) => {
      await expect(evaluate(tinyExecutor(), given)).rejects.toThrow(Object.keys(given)[0])
    },
  )
})

test('an unknown split is refused', async () => {
  await expect(evaluate(tinyExecutor(), { split: 'dev' })).rejects.toThrow("no split 'dev'")
})
