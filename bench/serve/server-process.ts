// The server under test and the bare one to compare it with, in one process.
import { PerformanceObserver } from 'node:perf_hooks'
import { Hono } from 'hono'
import { AskedQuestions } from '../../src/evaluation/asked-questions.ts'
import { loadPolicy } from '../../src/evaluation/trained-policy.ts'
import { emptyToolbox } from '../../src/execution/toolbox.ts'
import { CallLimit } from '../../src/models/call-limit.ts'
import type { ChatReply, ChatRequest } from '../../src/models/chat-model.ts'
import { openModel } from '../../src/models/open-model.ts'
import { listen } from '../../src/serve/listen.ts'
import { serve } from '../../src/serve/serve.ts'
import { Spending } from '../../src/serve/spending.ts'
import { executionSettings } from '../../src/settings/execution.ts'
import { cpuMillis } from './cpu-millis.ts'
import { callsOf, type GivenGraph, readCall } from './critical-path.ts'

/**
 * `memory` collects garbage first, so use it only if times do not matter: after a full collection the heap is small, and the
 * collector is busy until it has grown again. `graphs` ends the warm-up and tells the bare server which calls to make.
 */
export type ServerOrder = { readonly graphs: Readonly<Record<string, GivenGraph>> } | 'report' | 'memory'

export interface ServerMemory {
  readonly rss: number
  readonly heapUsed: number
}

export interface ServerReport {
  readonly cpuMillis: number
  /** Since the last report: share of time the event loop was busy, and pauses for garbage collection. */
  readonly busy: number
  readonly gcMs: { readonly sum: number; readonly longest: number }
}

const [folder, baseURL] = process.argv.slice(2) as [string, string]
const policy = await loadPolicy(folder, { thread: true })
const model = openModel({ preset: 'vllm', model: 'simulated', baseURL }, {})

/** The requests of the warm-up, by question and label. */
let recorded: Map<string, Map<string, ChatRequest>> | undefined = new Map()
const recording = {
  identity: model.identity,
  ask(request: ChatRequest, signal?: AbortSignal) {
    if (recorded !== undefined) {
      const { question, label } = readCall(request.user)
      const made = recorded.get(question) ?? new Map<string, ChatRequest>()
      recorded.set(question, made.set(label, request))
    }
    return model.ask(request, signal)
  },
}
const served = await serve({
  ...{ host: '127.0.0.1', port: 0, log: () => {} },
  policies: [
    {
      ...{ id: 'bench', policy, isSimulated: true, tools: emptyToolbox, limit: new CallLimit(10_000) },
      model: recording,
      questions: new AskedQuestions(policy.folder, policy.run, undefined),
      settings: { ...executionSettings.parse(policy.run.execution), traceContent: false },
      spending: new Spending({ request: {}, day: {} }, undefined),
    },
  ],
  limits: { bodyBytes: 1e6, rate: 1e9, rateOfAll: 1e9, running: 64, waiting: 64 },
})

interface BareCall {
  readonly request: ChatRequest
  readonly predecessors: readonly number[]
}

const bareCalls = new Map<string, BareCall[]>()

// The same calls in the same order, prepared in advance, and nothing else.
const bare = new Hono().post('/v1/chat/completions', async (context) => {
  const { messages } = await context.req.json()
  const calls: Promise<ChatReply>[] = []
  for (const { request, predecessors } of bareCalls.get(messages[0].content)!)
    calls.push(Promise.all(predecessors.map((one) => calls[one])).then(() => model.ask(request)))
  const reply = (await Promise.all(calls)).at(-1)!
  const message = { role: 'assistant', content: reply.ok ? reply.text : null }
  return context.json({
    id: 'bare',
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  })
})
const plain = await listen(bare.fetch, { host: '127.0.0.1', port: 0 })

let lastLoop = performance.eventLoopUtilization()
let gcPauses: number[] = []
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) gcPauses.push(duration)
}).observe({ entryTypes: ['gc'] })

function report(): ServerReport {
  const { utilization: busy } = performance.eventLoopUtilization(lastLoop)
  const gcMs = { sum: gcPauses.reduce((sum, ms) => sum + ms, 0), longest: Math.max(0, ...gcPauses) }
  lastLoop = performance.eventLoopUtilization()
  gcPauses = []
  return { cpuMillis: cpuMillis(), busy, gcMs }
}

function memory(): ServerMemory {
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  return { rss, heapUsed }
}

process.on('disconnect', () => process.exit())
process.on('message', (order: ServerOrder) => {
  if (order === 'report') return void process.send!(report())
  if (order === 'memory') return void process.send!(memory())
  for (const [question, graph] of Object.entries(order.graphs)) {
    const calls = callsOf(graph).map(({ label, predecessors }) => {
      return { request: recorded!.get(question)!.get(label)!, predecessors }
    })
    bareCalls.set(question, calls)
  }
  recorded = undefined
  process.send!('ready')
})
process.send!({ served: served.url, bare: plain.url })
