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
import type { JsonValue } from '../library/json-value.ts'
import type { ChatRequest, ModelIdentity } from '../models/chat-model.ts'
import type { Usage } from '../models/usage.ts'
import type { Asked } from './ask-once.ts'
import type { ExecutionStatus } from './events.ts'
import { attributes as named, operations, ownAttributes as own, schemaUrl } from './genai-conventions.ts'
import { isFailure, type NodeStatus } from './packet.ts'
import type { PlannedNode } from './plan.ts'
import type { Tool } from './tools/tool.ts'

export interface TelemetryOptions {
  readonly execution: string
  readonly workflow: string
  readonly task: string
  readonly model: ModelIdentity
  /** Whether spans may hold what was said. */
  readonly content: boolean
}

/** Spans of one execution: the workflow, its agents, their calls and tools. */
export class ExecutionTelemetry {
  readonly #tracer: Tracer
  readonly #span: Span
  readonly #context: Context
  readonly #options: TelemetryOptions

  private constructor(tracer: Tracer, span: Span, options: TelemetryOptions) {
    this.#tracer = tracer
    this.#span = span
    this.#context = trace.setSpan(context.active(), span)
    this.#options = options
  }

  /** Nothing where nobody records: asked once per execution, so that telemetry that is off costs nothing per node. */
  static start(options: TelemetryOptions): ExecutionTelemetry | undefined {
    const { execution, workflow, task } = options
    const tracer = trace.getTracerProvider().getTracer('magic-agents', undefined, { schemaUrl })
    const span = tracer.startSpan(`${operations.workflow} ${workflow}`, {
      kind: SpanKind.INTERNAL,
      attributes: {
        [named.operation]: operations.workflow,
        [named.workflowName]: workflow,
        [own.execution]: execution,
        [own.task]: task,
      },
    })
    return span.isRecording() ? new ExecutionTelemetry(tracer, span, options) : undefined
  }

  startNode(node: PlannedNode): NodeTelemetry {
    return new NodeTelemetry(this.#tracer, this.#context, node, this.#options)
  }

  end(status: ExecutionStatus, usage: Usage): void {
    this.#span.setAttributes({ [own.status]: status, ...tokens(usage) })
    endSpan(this.#span, status === 'answered' ? undefined : status)
  }
}

export class NodeTelemetry {
  readonly #tracer: Tracer
  readonly #span: Span
  readonly #context: Context
  readonly #options: TelemetryOptions

  constructor(tracer: Tracer, parent: Context, node: PlannedNode, options: TelemetryOptions) {
    const { provider, model } = options.model
    this.#tracer = tracer
    this.#options = options
    this.#span = tracer.startSpan(
      `${operations.agent} ${node.executor}`,
      {
        kind: SpanKind.INTERNAL,
        attributes: {
          [named.operation]: operations.agent,
          [named.provider]: provider,
          [named.requestModel]: model,
          [named.agentName]: node.executor,
          [named.agentId]: node.id,
          [own.part]: node.part,
          [own.role]: node.role,
        },
      },
      parent,
    )
    this.#context = trace.setSpan(parent, this.#span)
  }

  startCall({ system, user, decoding }: ChatRequest): CallSpan {
    const { model, content } = this.#options
    const attributes: Attributes = {
      [named.operation]: operations.chat,
      [named.provider]: model.provider,
      [named.requestModel]: model.model,
      [named.temperature]: decoding.temperature,
      [named.maxTokens]: decoding.maxOutputTokens,
      [named.outputType]: decoding.json ? 'json' : 'text',
    }
    if (content) {
      attributes[named.systemInstructions] = JSON.stringify([{ type: 'text', content: system }])
      attributes[named.inputMessages] = JSON.stringify([said('user', user)])
    }
    const span = this.#tracer.startSpan(
      `${operations.chat} ${model.model}`,
      { kind: SpanKind.CLIENT, attributes },
      this.#context,
    )
    return new CallSpan(span, trace.setSpan(this.#context, span), content)
  }

  startTool({ name, description }: Tool, payload: JsonValue | undefined): ToolSpan {
    const { content } = this.#options
    const attributes: Attributes = {
      [named.operation]: operations.tool,
      [named.toolName]: name,
      [named.toolType]: 'function',
      [named.toolDescription]: description,
    }
    if (content) attributes[named.toolArguments] = JSON.stringify(payload ?? null)
    const span = this.#tracer.startSpan(
      `${operations.tool} ${name}`,
      { kind: SpanKind.INTERNAL, attributes },
      this.#context,
    )
    return {
      end(error, result) {
        if (content && result !== undefined) span.setAttribute(named.toolResult, JSON.stringify(result))
        endSpan(span, error)
      },
    }
  }

  end(status: NodeStatus): void {
    this.#span.setAttribute(own.status, status)
    endSpan(this.#span, isFailure(status) ? status : undefined)
  }
}

interface ToolSpan {
  /** With what went wrong, if anything did. */
  end(error: string | undefined, result?: JsonValue): void
}

class CallSpan {
  readonly #span: Span
  readonly #context: Context
  readonly #content: boolean

  constructor(span: Span, spanContext: Context, content: boolean) {
    this.#span = span
    this.#context = spanContext
    this.#content = content
  }

  /** So that spans of an instrumented HTTP client become children of this one. */
  within<Result>(work: () => Result): Result {
    return context.with(this.#context, work)
  }

  end({ call, reused }: Asked): void {
    const { reply, attempts, usage } = call
    this.#span.setAttributes({ ...tokens(usage), [own.attempts]: attempts.length, [own.reused]: reused })
    if (reply.ok) {
      this.#span.setAttribute(named.finishReasons, [reply.finish])
      if (reply.servedModel !== undefined) this.#span.setAttribute(named.responseModel, reply.servedModel)
      if (this.#content) {
        const message = { ...said('assistant', reply.text), finish_reason: reply.finish }
        this.#span.setAttribute(named.outputMessages, JSON.stringify([message]))
      }
    }
    endSpan(this.#span, reply.ok ? undefined : reply.kind)
  }
}

function said(role: 'user' | 'assistant', text: string) {
  return { role, parts: [{ type: 'text', content: text }] }
}

function tokens({ input, cachedInput, output }: Usage): Attributes {
  return {
    [named.inputTokens]: input,
    [named.cachedInputTokens]: cachedInput,
    [named.outputTokens]: output,
  }
}

function endSpan(span: Span, error: string | undefined): void {
  if (error !== undefined) {
    span.setAttribute(named.errorType, error)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
