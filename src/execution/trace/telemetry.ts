import {
  type Attributes,
  type Context,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { JsonValue } from '../../library/json-value.ts'
import type { ChatRequest, ModelIdentity } from '../../models/chat-model.ts'
import type { Usage } from '../../models/usage.ts'
import type { Asked } from '../node.ts'
import type { PlannedNode } from '../plan.ts'
import type { Tool } from '../tools/tool.ts'

// Spans follow OpenTelemetry's conventions for generative AI, which are still in development at
// open-telemetry/semantic-conventions-genai (docs/gen-ai/gen-ai-spans.md, gen-ai-agent-spans.md). Only this file has
// to follow their changes. Attributes without a convention go under `magic`.

export const schemaUrl = 'https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev'

interface TracedWorkflow {
  readonly execution: string
  readonly workflow: string
  readonly task: string
  readonly model: ModelIdentity
  /** Whether spans may contain requests, replies and observations. */
  readonly content: boolean
}

/** A started span: of an execution (workflow), a node (agent), a call or a tool. */
export class OpenSpan {
  readonly #of: TracedWorkflow
  readonly #tracer: Tracer
  readonly #span: Span
  readonly #context: Context

  private constructor(of: TracedWorkflow, tracer: Tracer, span: Span, parent: Context) {
    this.#of = of
    this.#tracer = tracer
    this.#span = span
    this.#context = trace.setSpan(parent, span)
  }

  /** Undefined if nobody records. Checked once per execution, so that disabled telemetry costs nothing per node. */
  static start(of: TracedWorkflow): OpenSpan | undefined {
    const tracer = trace.getTracerProvider().getTracer('magic-agents', undefined, { schemaUrl })
    const attributes = {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': of.workflow,
      'magic.execution.id': of.execution,
      'magic.task.id': of.task,
    }
    const span = tracer.startSpan(`invoke_workflow ${of.workflow}`, { kind: SpanKind.INTERNAL, attributes })
    return span.isRecording() ? new OpenSpan(of, tracer, span, context.active()) : undefined
  }

  /** Makes spans of an instrumented HTTP client children of this one. */
  within<Result>(work: () => Result): Result {
    return context.with(this.#context, work)
  }

  startNode({ executor, id, part, role }: PlannedNode): OpenSpan {
    return this.#child('invoke_agent', executor, {
      ...this.#model,
      'gen_ai.agent.name': executor,
      'gen_ai.agent.id': id,
      'magic.node.part': part,
      'magic.node.role': role,
    })
  }

  startCall({ system, user, decoding }: ChatRequest): OpenSpan {
    const attributes = {
      ...this.#model,
      'gen_ai.request.temperature': decoding.temperature,
      'gen_ai.request.max_tokens': decoding.maxOutputTokens,
      'gen_ai.output.type': decoding.json ? 'json' : 'text',
      ...this.#content('gen_ai.system_instructions', [{ type: 'text', content: system }]),
      ...this.#content('gen_ai.input.messages', [message('user', user)]),
    }
    return this.#child('chat', this.#of.model.model, attributes, SpanKind.CLIENT)
  }

  startTool({ name, description }: Tool, payload: JsonValue | undefined): OpenSpan {
    return this.#child('execute_tool', name, {
      'gen_ai.tool.name': name,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.description': description,
      ...this.#content('gen_ai.tool.call.arguments', payload ?? null),
    })
  }

  endCall({ call: { reply, attempts, usage }, reused }: Asked): void {
    const attributes: Attributes = {
      ...tokens(usage),
      'magic.call.attempts': attempts.length,
      'magic.call.reused': reused,
    }
    if (reply.ok) {
      const { text, finish, servedModel } = reply
      attributes['gen_ai.response.finish_reasons'] = [finish]
      if (servedModel !== undefined) attributes['gen_ai.response.model'] = servedModel
      const said = { ...message('assistant', text), finish_reason: finish }
      Object.assign(attributes, this.#content('gen_ai.output.messages', [said]))
    }
    this.end(reply.ok ? undefined : reply.kind, attributes)
  }

  endTool(error: string | undefined, result: JsonValue): void {
    this.end(error, this.#content('gen_ai.tool.call.result', result))
  }

  /** Ends the span of an execution or a node. */
  endAs(status: string, hasFailed: boolean, usage?: Usage): void {
    this.end(hasFailed ? status : undefined, { 'magic.status': status, ...(usage && tokens(usage)) })
  }

  end(error: string | undefined, attributes: Attributes = {}): void {
    this.#span.setAttributes(attributes)
    if (error !== undefined) {
      this.#span.setAttribute('error.type', error)
      this.#span.setStatus({ code: SpanStatusCode.ERROR })
    }
    this.#span.end()
  }

  #child(operation: string, name: string, more: Attributes, kind = SpanKind.INTERNAL): OpenSpan {
    const attributes = { 'gen_ai.operation.name': operation, ...more }
    const span = this.#tracer.startSpan(`${operation} ${name}`, { kind, attributes }, this.#context)
    return new OpenSpan(this.#of, this.#tracer, span, this.#context)
  }

  get #model(): Attributes {
    const { provider, model } = this.#of.model
    return { 'gen_ai.provider.name': provider, 'gen_ai.request.model': model }
  }

  #content(name: string, value: JsonValue): Attributes {
    return this.#of.content ? { [name]: JSON.stringify(value) } : {}
  }
}

function message(role: 'user' | 'assistant', text: string) {
  return { role, parts: [{ type: 'text', content: text }] }
}

function tokens({ input, cachedInput, output }: Usage): Attributes {
  return {
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.cache_read.input_tokens': cachedInput,
    'gen_ai.usage.output_tokens': output,
  }
}
