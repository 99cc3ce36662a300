import { hash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { executeGraph } from '../../src/execution/execute-graph.ts'
import type { Execution } from '../../src/execution/execution.ts'
import type { ExecutionEvent } from '../../src/execution/trace/events.ts'
import { AgentGraph } from '../../src/graph/agent-graph.ts'
import { optionLabel } from '../../src/library/answer-contract.ts'
import { CallLimit } from '../../src/models/call-limit.ts'
import type { ChatModel } from '../../src/models/chat-model.ts'
import type { OpenAICompatibleModel } from '../../src/models/http/openai-compatible.ts'
import { ApiKey } from '../../src/models/secret.ts'
import { addUsage } from '../../src/models/usage.ts'
import { faultClient } from '../faults/fault-client.ts'
import { type Fault, FaultServer, type NamedFault } from '../faults/fault-server.ts'
import { InstantClock } from '../faults/instant-clock.ts'
import { tinyLibrary, tinyProfile } from '../tiny-library.ts'

// The whole path from a graph to the wire, against a misbehaving server.

const canary = 'sk-canary/+7f3a"9c=='
const canaryForms = [
  canary,
  Buffer.from(canary).toString('base64'),
  Buffer.from(`user:${canary}`).toString('base64').slice(8, 28),
  encodeURIComponent(canary),
  JSON.stringify(canary).slice(1, -1),
]

const graph = AgentGraph.of([
  { role: 'a', realization: 'atomic', predecessors: [] },
  { role: 'b', realization: 'group', predecessors: [0] },
  { role: 'c', realization: 'atomic', predecessors: [0, 1] },
])
const nodes = 7

let server: FaultServer
const rejections: unknown[] = []
const onRejection = (reason: unknown) => rejections.push(reason)

async function startServer(): Promise<FaultServer> {
  const started = await FaultServer.start()
  started.answer((body) => {
    const isFinal = /\\"part\\":\\"(?:finalizer|direct)\\"/.test(body)
    const said = { analysis: 'Seen.', answer: 'A' }
    return {
      content: JSON.stringify(isFinal ? said : { kind: 'content', content: said }),
      promptTokens: 100,
      completionTokens: 10,
      cachedTokens: 40,
    }
  })
  return started
}

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())
beforeEach(() => {
  rejections.length = 0
  process.on('unhandledRejection', onRejection)
})
afterEach(() => {
  process.off('unhandledRejection', onRejection)
  expect(rejections).toEqual([])
})

/**
 * A deadline that healthy calls meet even on a busy machine, and one for calls that are never fully
 * answered.
 */
const [patientMs, hastyMs] = [600_000, 2000]
const silent: readonly Fault[] = ['hang', 'hang_body', 'drip', 'drip_headers']

/** Uses a short deadline if the server will go silent, according to `faultOf`. */
function openPair(url: string, faultOf: (user: string) => Fault): ChatModel & { close(): Promise<void> } {
  const [patient, hasty] = [openModel(patientMs, url), openModel(hastyMs, url)]
  return {
    identity: patient.identity,
    ask: (request, signal) => (silent.includes(faultOf(request.user)) ? hasty : patient).ask(request, signal),
    async close() {
      await Promise.all([patient.close(), hasty.close()])
    },
  }
}

function openModel(deadlineMs = patientMs, url = server.url): OpenAICompatibleModel {
  return faultClient(url, { deadlineMs, apiKey: new ApiKey(canary, new URL(url).origin) })
}

const events: ExecutionEvent[] = []

function execute(
  model: ChatModel,
  run: AgentGraph,
  limit = new CallLimit(8),
  question = 'Which?',
): Promise<Execution> {
  return executeGraph({
    graph: run,
    task: { id: 't', question, options: [{ label: 'A', text: 'this' }], metadata: {} },
    library: tinyLibrary,
    profile: tinyProfile,
    contract: optionLabel,
    model,
    limit,
    clock: new InstantClock(Date.UTC(2026, 10, 16)),
    onEvent: (event) => events.push(event),
  })
}

function expectNoKey(...things: unknown[]): void {
  const text = JSON.stringify(things)
  for (const form of canaryForms) {
    expect(text).not.toContain(form)
    expect(text).not.toContain(JSON.stringify(form).slice(1, -1))
  }
}

describe('faults at given rates', () => {
  const rates: Partial<Record<NamedFault, number>> = {
    '429': 0.06,
    '500': 0.06,
    hang: 0.01,
    drip: 0.01,
    truncate: 0.04,
    truncate_chunked: 0.02,
    wrong_type: 0.04,
    html: 0.02,
    broken_json: 0.04,
    broken_gzip: 0.02,
    reset: 0.03,
    empty: 0.02,
    no_choices: 0.02,
    no_usage: 0.02,
    '408': 0.01,
    cut_off: 0.02,
  }
  /**
   * The same faults in every run, determined by the request and how often it was asked before. Client and
   * server each count for themselves.
   */
  const makePlan = () => {
    const times = new Map<string, number>()
    return (user: string): Fault => {
      const before = times.get(user) ?? 0
      times.set(user, before + 1)
      let fraction = hash('sha256', `${before} ${user}`, 'buffer').readUInt32BE() / 2 ** 32
      for (const [fault, rate] of Object.entries(rates)) {
        fraction -= rate
        if (fraction < 0) return fault as Fault
      }
      return 'ok'
    }
  }

  test("every execution ends, and the sums match the server's log", async () => {
    const planned = makePlan()
    server.plan((_, body) => planned(JSON.parse(body).messages[1].content))
    events.length = 0
    const model = openPair(server.url, makePlan())
    const limit = new CallLimit(16)
    const executions = await Promise.all(
      Array.from({ length: 150 }, (_, index) =>
        execute(model, index % 10 === 0 ? AgentGraph.empty : graph, limit, `Which of ${index}?`),
      ),
    )
    await model.close()
    const served = (...faults: Fault[]) =>
      server.attempts.filter(({ fault }) => faults.includes(fault)).length
    const total = addUsage(...executions.map(({ usage }) => usage))
    const told = served('ok', 'no_choices', 'cut_off', 'wrong_type')
    expect(total).toMatchObject({
      attempts: server.attempts.length,
      failedAttempts: server.attempts.length - served('ok', 'no_usage', 'cut_off', 'wrong_type'),
      input: 100 * told,
      cachedInput: 40 * told,
      output: 10 * told,
      unknown:
        served('hang', 'drip', 'truncate', 'truncate_chunked', 'html') +
        served('broken_json', 'broken_gzip', 'reset', 'empty', 'no_usage'),
    })
    // Each node of each graph made its one call and has its packet.
    expect(total.calls).toBe(15 + 135 * nodes)
    expect(limit.inFlight + limit.waiting).toBe(0)
    for (const { status, packets, failures, trace } of executions) {
      const last = packets.at(-1)!
      expect(status).toBe(last.status === 'ok' ? 'answered' : 'unanswered')
      expect(failures.every((packet) => packet.status === 'model_failure')).toBe(true)
      expect(trace.nodes.flatMap(({ calls }) => calls).every(({ attempts }) => attempts.length <= 4)).toBe(
        true,
      )
    }
    const ended = executions.filter(({ status }) => status === 'answered').length
    expect(ended).toBeGreaterThan(100)
    expect(events.filter(({ type }) => type === 'execution-end').length).toBe(150)
    expectNoKey(executions, events)
  })
})

describe('each fault at each part', () => {
  const faults: Fault[] = [
    '429',
    '500',
    '503',
    'reset',
    'truncate',
    'truncate_chunked',
    'huge_body',
    'gzip_bomb',
    'broken_gzip',
    '408',
    'html',
    'empty',
    'no_content',
    'error_in_200',
    'error_in_choice',
    'broken_json',
    'not_utf8',
    'no_choices',
    'proto_body',
  ]
  const single = AgentGraph.of([{ role: 'a', realization: 'atomic', predecessors: [] }])
  const four = (fault: Fault) => Array<Fault>(4).fill(fault)
  const cases: { run: AgentGraph; script: (fault: Fault) => Fault[]; outcome: object }[] = [
    {
      // a node
      run: single,
      script: (fault) => [...four(fault), 'ok'],
      outcome: { status: 'answered', packets: [{ status: 'model_failure' }, { status: 'ok' }] },
    },
    {
      // the finalizer
      run: single,
      script: (fault) => ['ok', ...four(fault)],
      outcome: { status: 'unanswered', packets: [{ status: 'ok' }, { status: 'model_failure' }] },
    },
    {
      // the direct path
      run: AgentGraph.empty,
      script: four,
      outcome: { status: 'unanswered', packets: [{ status: 'model_failure' }] },
    },
  ]

  const expectEach = async (fault: Fault) =>
    void (await Promise.all(
      cases.map(async ({ run, script, outcome }) => {
        const planned = script(fault)
        const faulty = await startServer()
        faulty.script(...planned)
        let asked = 0
        const model = openPair(faulty.url, () => planned[asked++] ?? 'ok')
        const execution = await execute(model, run)
        await model.close()
        await faulty.close()
        expect(execution, fault).toMatchObject(outcome)
        const calls = execution.packets.length
        expect(execution.usage, fault).toMatchObject({ calls, attempts: calls + 3, failedAttempts: 4 })
        expect(faulty.attempts.length, fault).toBe(calls + 3)
        expectNoKey(execution)
      }),
    ))

  test.each(faults)('%s', expectEach)

  // Concurrently, since each takes as long as its deadlines.
  test(silent.join(', '), async () => void (await Promise.all(silent.map(expectEach))))

  test.each<Fault>(['400', '413', '418', '422'])('%s once is not a failure', async (fault) => {
    server.script(fault)
    const model = openModel()
    const execution = await execute(model, single)
    await model.close()
    expect(execution).toMatchObject({
      status: 'answered',
      failures: [],
      usage: { calls: 2, attempts: 3, failedAttempts: 1 },
    })
  })

  test.each<Fault>(['wrong_type', 'no_type'])('%s is an answer, paid for once', async (fault) => {
    server.plan(() => fault)
    const model = openModel()
    const execution = await execute(model, single)
    await model.close()
    expect(execution).toMatchObject({ status: 'answered', usage: { attempts: 2, failedAttempts: 0 } })
  })
})

describe('faults that stop a run', () => {
  test.each<Fault>(['401', '402', '403', '404', 'redirect', 'quota_429', 'echo_key_in_error'])(
    '%s',
    async (fault) => {
      // A separate server: cancelled calls may reach it late.
      const refusing = await startServer()
      // The first node answers; each of the three concurrent workers is refused or cancelled.
      refusing.plan((number) => (number === 0 ? 'ok' : fault))
      events.length = 0
      const model = openModel(patientMs, refusing.url)
      const execution = await execute(model, graph)
      await model.close()
      await refusing.close()
      expect(execution.status).toBe('stopped')
      expect(execution.answer).toBeUndefined()
      expect(execution.packets[0]!.status).toBe('ok')
      expect(refusing.attempts.length).toBeLessThanOrEqual(4)
      expect(execution.usage).toMatchObject({ attempts: 4, failedAttempts: 3 })
      expectNoKey(execution, events, String(execution.stop!.message))
      if (fault === 'echo_key_in_error') expect(execution.stop!.message).toContain('[redacted]')
    },
  )

  test.each<Fault>(['400', '413', '418', '422'])('%s for everything', async (fault) => {
    const gone = await startServer()
    gone.plan((number) => (number === 0 ? 'ok' : fault))
    const model = openModel(patientMs, gone.url)
    const execution = await execute(model, graph)
    await model.close()
    await gone.close()
    expect(execution).toMatchObject({ status: 'stopped', stop: { kind: 'rejects_all' } })
    // The first node, three workers, and one control call.
    expect(gone.attempts.length).toBeLessThanOrEqual(5)
  })
})

test('the key is sent to the server and nowhere else', async () => {
  server.script()
  events.length = 0
  const model = openModel()
  const execution = await execute(model, graph)
  await model.close()
  expect(server.attempts.every(({ headers }) => headers.authorization === `Bearer ${canary}`)).toBe(true)
  expectNoKey(
    execution,
    events,
    server.attempts.map(({ body }) => body),
  )
})
