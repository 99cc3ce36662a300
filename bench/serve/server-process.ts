// The server under test, and the bare one that it is measured against, in a process of their own.
import { Hono } from 'hono'
import { AskedQuestions } from '../../src/evaluation/asked-questions.ts'
import { loadPolicy } from '../../src/evaluation/trained-policy.ts'
import { planOf } from '../../src/execution/plan.ts'
import { emptyToolbox } from '../../src/execution/toolbox.ts'
import { AgentGraph } from '../../src/graph/agent-graph.ts'
import { CallLimit } from '../../src/models/call-limit.ts'
import type { ChatRequest } from '../../src/models/chat-model.ts'
import { openModel } from '../../src/models/open-model.ts'
import { listen } from '../../src/serve/listen.ts'
import { serve } from '../../src/serve/serve.ts'
import { Spending } from '../../src/serve/spending.ts'
import { executionSettings } from '../../src/settings/execution.ts'

const [folder, baseURL] = process.argv.slice(2) as [string, string]
process.on('disconnect', () => process.exit())

const policy = await loadPolicy(folder)
const model = openModel({ preset: 'vllm', model: 'simulated', baseURL }, {})
/** The requests of each question, as they were made during the warm-up. */
const requests = new Map<string, Map<string, ChatRequest>>()
let isWarmingUp = true
const recording = {
  identity: model.identity,
  ask(request: ChatRequest, signal?: AbortSignal) {
    if (isWarmingUp) {
      const { question } = JSON.parse(request.user).task as { question: string }
      const made = requests.get(question) ?? new Map<string, ChatRequest>()
      requests.set(question, made.set(request.system + request.user, request))
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

// The same calls in the same order, with nothing around them.
const bare = new Hono().post('/v1/chat/completions', async (context) => {
  const { messages, graph } = await context.req.json()
  const made = [...(requests.get(messages[0].content)?.values() ?? [])]
  const { nodes } = planOf(AgentGraph.of(graph.units), {
    library: policy.library,
    profile: policy.run.profile,
    tools: emptyToolbox,
  })
  const calls: Promise<unknown>[] = []
  for (const [place, { predecessors = [] }] of nodes.entries())
    calls.push(
      Promise.all(predecessors.map((one) => calls[one])).then(() => model.ask(made[place % made.length]!)),
    )
  const replies = await Promise.all(calls)
  const { text } = replies.at(-1) as { text: string }
  const message = { role: 'assistant', content: text }
  return context.json({
    id: 'bare',
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  })
})
const plain = await listen(bare.fetch, { host: '127.0.0.1', port: 0 })

/** Asked for after the warm-up and after each part. */
process.on('message', () => {
  isWarmingUp = false
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  process.send!({ rss, heapUsed, cpuMicros: process.cpuUsage().user + process.cpuUsage().system })
})
process.send!({ served: served.url, bare: plain.url })
