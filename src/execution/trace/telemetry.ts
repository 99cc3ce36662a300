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
import type { Asked } from '../ask-once.ts'
import { isFailure, type NodeStatus } from '../packet.ts'
import type { PlannedNode } from '../plan.ts'
import type { Tool } from '../tools/tool.ts'
import type { ExecutionStatus } from './events.ts'
import { attributes as named, operations, ownAttributes as own, schemaUrl } from './genai-conventions.ts'

export interface TelemetryOptions {
  readonly execution: string
  readonly workflow: string
  readonly task: string
  readonly model: ModelIdentity
  /** Whether spans may hold requests, replies and observations. */
  readonly content: boolean
}

/** A span that has started, and its children. */
class OpenSpan {
  protected readonly options: TelemetryOptions
  protected readonly span: Span
  readonly #tracer: Tracer
  readonly #context: Context

  constructor(options: TelemetryOptions, tracer: Tracer, span: Span, parent: Context) {
    this.options = options
    this.span = span
    this.#tracer = tracer
    this.#context = trace.setSpan(parent, span)
  }

  /** So that spans of an instrumented HTTP client become children of this one. */
  within<Result>(work: () => Result): Result {
    return context.with(this.#context, work)
  }

  protected startChild<Child extends OpenSpan>(
    Kind: new (...given: ConstructorParameters<typeof OpenSpan>) => Child,
    operation: string,
    name: string,
    attributes: Attributes,
    kind = SpanKind.INTERNAL,
  ): Child {
    const all = { [named.operation]: operation, ...attributes }
    const span = this.#tracer.startSpan(`${operation} ${name}`, { kind, attributes: all }, this.#context)
    return new Kind(this.options, this.#tracer, span, this.#context)
  }

  protected finish(error: string | undefined, attributes: Attributes): void {
    this.span.setAttributes(attributes)
    if (error !== undefined) {
      this.span.setAttribute(named.errorType, error)
      this.span.setStatus({ code: SpanStatusCode.ERROR })
    }
    this.span.end()
  }
}

/** The spans of one execution: the workflow, its agents, their calls and tools. */
export class ExecutionTelemetry extends OpenSpan {
  /** Nothing where nobody records: checked once per execution, so that telemetry that is off costs nothing per node. */
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
    return span.isRecording() ? new ExecutionTelemetry(options, tracer, span, context.active()) : undefined
  }

  startNode({ executor, id, part, role }: PlannedNode): NodeTelemetry {
    return this.startChild(NodeTelemetry, operations.agent, executor, {
      [named.provider]: this.options.model.provider,
      [named.requestModel]: this.options.model.model,
      [named.agentName]: executor,
      [named.agentId]: id,
      [own.part]: part,
      [own.role]: role,
    })
  }

  end(status: ExecutionStatus, usage: Usage): void {
    this.finish(status === 'answered' ? undefined : status, { [own.status]: status, ...tokens(usage) })
  }
}

export class NodeTelemetry extends OpenSpan {
  startCall({ system, user, decoding }: ChatRequest): CallSpan {
    const { model, content } = this.options
    const attributes: Attributes = {
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
    return this.startChild(CallSpan, operations.chat, model.model, attributes, SpanKind.CLIENT)
  }

  startTool({ name, description }: Tool, payload: JsonValue | undefined): ToolSpan {
    const attributes: Attributes = {
      [named.toolName]: name,
      [named.toolType]: 'function',
      [named.toolDescription]: description,
    }
    if (this.options.content) attributes[named.toolArguments] = JSON.stringify(payload ?? null)
    return this.startChild(ToolSpan, operations.tool, name, attributes)
  }

  end(status: NodeStatus): void {
    this.finish(isFailure(status) ? status : undefined, { [own.status]: status })
  }
}

class ToolSpan extends OpenSpan {
  end(error: string | undefined, result?: JsonValue): void {
    const isKept = this.options.content && result !== undefined
    this.finish(error, isKept ? { [named.toolResult]: JSON.stringify(result) } : {})
  }
}

class CallSpan extends OpenSpan {
  end({ call, reused }: Asked): void {
    const { reply, attempts, usage } = call
    const attributes: Attributes = {
      ...tokens(usage),
      [own.attempts]: attempts.length,
      [own.reused]: reused,
    }
    if (reply.ok) {
      attributes[named.finishReasons] = [reply.finish]
      if (reply.servedModel !== undefined) attributes[named.responseModel] = reply.servedModel
      if (this.options.content) {
        const message = { ...said('assistant', reply.text), finish_reason: reply.finish }
        attributes[named.outputMessages] = JSON.stringify([message])
      }
    }
    this.finish(reply.ok ? undefined : reply.kind, attributes)
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
