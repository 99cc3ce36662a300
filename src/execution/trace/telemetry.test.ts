import {
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { afterEach, describe, expect, test } from 'vitest'
import { content, failed, final, ScriptedModel, toolRequest } from '../../../test/scripted-model.ts'
import { tinyLibrary, tinyProfile } from '../../../test/tiny-library.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { freeText } from '../../library/answer-contract.ts'
import { executionSettings } from '../../settings/execution.ts'
import { executeGraph } from '../execute-graph.ts'
import { openToolbox } from '../toolbox.ts'
import { schemaUrl } from './telemetry.ts'

/** The relevant fields an SDK would export. */
interface Recorded {
  readonly name: string
  readonly kind: number | undefined
  readonly parent: Recorded | undefined
  readonly attributes: Attributes
  ended: boolean
  failed: boolean
}

function recordSpans(): { spans: Recorded[]; schemas: (string | undefined)[] } {
  const spans: Recorded[] = []
  const schemas: (string | undefined)[] = []
  const recordedOf = new Map<Span, Recorded>()
  const startSpan = (name: string, options: SpanOptions = {}, parent?: Context): Span => {
    const recorded: Recorded = {
      name,
      kind: options.kind,
      parent: parent && recordedOf.get(trace.getSpan(parent)!),
      attributes: { ...options.attributes },
      ended: false,
      failed: false,
    }
    spans.push(recorded)
    const span = {
      isRecording: () => true,
      setAttribute: (key: string, value: string) => Object.assign(recorded.attributes, { [key]: value }),
      setAttributes: (more: Attributes) => Object.assign(recorded.attributes, more),
      setStatus: ({ code }: { code: SpanStatusCode }) => {
        recorded.failed = code === SpanStatusCode.ERROR
      },
      end: () => {
        expect(recorded.ended).toBe(false)
        recorded.ended = true
      },
    } as unknown as Span
    recordedOf.set(span, recorded)
    return span
  }
  trace.setGlobalTracerProvider({
    getTracer: (_name, _version, options) => {
      schemas.push(options?.schemaUrl)
      return { startSpan } as never
    },
  })
  return { spans, schemas }
}

afterEach(() => trace.disable())

const graph = AgentGraph.of([
  { role: 'c', realization: 'atomic', predecessors: [] },
  { role: 'a', realization: 'atomic', predecessors: [0] },
])

async function run(settings = {}, id = 't') {
  const model = new ScriptedModel(({ executor, message }) => {
    if (executor.part === 'finalizer') return final('SECRET words', 'yes')
    if (executor.id === 'a') return failed('rejected')
    if (message.tools !== undefined) return toolRequest('calculator', { expression: '2+3' })
    return content('SECRET words', 'x')
  })
  return executeGraph({
    graph,
    task: { id, question: 'SECRET question', metadata: {} },
    library: tinyLibrary,
    profile: tinyProfile,
    contract: freeText,
    model,
    tools: openToolbox(),
    id: 'e1',
    settings: executionSettings.parse(settings),
  })
}

describe('spans', () => {
  test('nest workflow, agents, calls and tools in order', async () => {
    const { spans, schemas } = recordSpans()
    await run()
    const path = (span: Recorded): string => (span.parent ? `${path(span.parent)} > ${span.name}` : span.name)
    expect(spans.map(path)).toEqual([
      'invoke_workflow tiny',
      'invoke_workflow tiny > invoke_agent c',
      'invoke_workflow tiny > invoke_agent c > chat m',
      'invoke_workflow tiny > invoke_agent c > execute_tool calculator',
      'invoke_workflow tiny > invoke_agent c > chat m',
      'invoke_workflow tiny > invoke_agent a',
      'invoke_workflow tiny > invoke_agent a > chat m',
      'invoke_workflow tiny > invoke_agent finalizer',
      'invoke_workflow tiny > invoke_agent finalizer > chat m',
    ])
    expect(spans.every(({ ended }) => ended)).toBe(true)
    expect(spans.map(({ failed }) => failed)).toEqual([
      false,
      false,
      false,
      false,
      false,
      true,
      true,
      false,
      false,
    ])
    expect(schemas).toEqual([schemaUrl])
  })

  test('carry the conventions’ attributes and no content', async () => {
    const { spans } = recordSpans()
    await run()
    expect(spans[0]!.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': 'tiny',
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.cache_read.input_tokens': 12,
      'gen_ai.usage.output_tokens': 15,
      'magic.execution.id': 'e1',
      'magic.task.id': 't',
      'magic.status': 'answered',
    })
    expect(spans[2]!.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'm',
      'gen_ai.request.temperature': 0,
      'gen_ai.request.max_tokens': 2048,
      'gen_ai.output.type': 'json',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.cache_read.input_tokens': 4,
      'gen_ai.usage.output_tokens': 5,
      'magic.call.attempts': 1,
      'magic.call.reused': false,
    })
    expect(spans[6]!.attributes).toMatchObject({ 'error.type': 'rejected' })
    expect(spans[5]!.attributes).toMatchObject({ 'error.type': 'model_failure', 'gen_ai.agent.id': 'u1' })
    expect(JSON.stringify(spans)).not.toMatch(/SECRET|2\+3/)
  })

  test('a question without an id is named by a digest', async () => {
    const { spans } = recordSpans()
    const { trace } = await run({ traceContent: false }, 'SECRET question')
    expect(spans[0]!.attributes['magic.task.id']).toMatch(/^sha256:[0-9a-f]{16}$/)
    expect(JSON.stringify([spans, trace])).not.toContain('SECRET')
  })

  test('contain content only on request', async () => {
    const { spans } = recordSpans()
    await run({ telemetryContent: true })
    const [, , first, tool, second] = spans
    expect(JSON.parse(String(first!.attributes['gen_ai.input.messages']))).toMatchObject([
      { role: 'user', parts: [{ type: 'text', content: expect.stringContaining('SECRET question') }] },
    ])
    expect(first!.attributes['gen_ai.system_instructions']).toContain('You are c.')
    expect(tool!.attributes).toMatchObject({ 'gen_ai.tool.call.arguments': '{"expression":"2+3"}' })
    expect(tool!.attributes['gen_ai.tool.call.result']).toContain('"status":"ok"')
    expect(JSON.parse(String(second!.attributes['gen_ai.output.messages']))).toMatchObject([
      { role: 'assistant', finish_reason: 'stop' },
    ])
  })
})

test('without a provider nothing is recorded and nothing changes', async () => {
  expect((await run()).status).toBe('answered')
})
