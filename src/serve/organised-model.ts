import { z } from 'zod'
import { AskedQuestions } from '../evaluation/asked-questions.ts'
import type { SolveOptions } from '../evaluation/solve.ts'
import type { TrainedPolicy } from '../evaluation/trained-policy.ts'
import { openToolbox } from '../execution/toolbox.ts'
import type { Usage } from '../models/usage.ts'
import { sandboxOfRun } from '../store/run-tools.ts'
import { type Answered, type AnswerProgress, answer, type PutQuestion, type ServedPolicy } from './answer.ts'
import { checked, contentSchema, extensionSchema, questionOf } from './chat-request.ts'
import { Refusal } from './refusal.ts'

/** Contract, tools and settings default to the run's. */
export interface OrganisedModelOptions extends Pick<SolveOptions, 'model' | 'tools' | 'limit' | 'settings'> {
  readonly policy: TrainedPolicy
}

/**
 * The part of the AI SDK's `LanguageModelV4` that a policy supports, declared here so that this package does not depend
 * on the SDK.
 */
export interface OrganisedModel {
  readonly specificationVersion: 'v4'
  readonly provider: 'magic'
  readonly modelId: string
  readonly supportedUrls: Record<string, RegExp[]>
  doGenerate(options: OrganisedCall): Promise<OrganisedResult>
  doStream(options: OrganisedCall): Promise<{ stream: ReadableStream<OrganisedPart> }>
}

interface OrganisedCall {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[]
  readonly abortSignal?: AbortSignal
  readonly seed?: number
  readonly tools?: readonly unknown[]
  readonly responseFormat?: { readonly type: string }
  readonly includeRawChunks?: boolean
  /** `providerOptions.magic` has the same fields as the extension field `magic` of `magic serve`. */
  readonly providerOptions?: Readonly<Record<string, unknown>>
}

interface OrganisedEnd {
  readonly usage: ReturnType<typeof usageOf>
  readonly finishReason: { readonly unified: 'stop'; readonly raw: undefined }
  /** `magic` describes how the answer was made: graph, cost, trace and more. */
  readonly providerMetadata: { readonly magic: MetadataObject }
}

interface OrganisedResult extends OrganisedEnd {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly warnings: []
}

type OrganisedPart =
  | { type: 'stream-start'; warnings: [] }
  | { type: 'text-start' | 'text-end'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  /** Progress: `{ type: 'unit-added' | 'node-start' | 'node-end', … }`. Only if raw chunks are requested. */
  | { type: 'raw'; rawValue: unknown }
  | ({ type: 'finish' } & OrganisedEnd)
  | { type: 'error'; error: unknown }

type MetadataValue = null | string | number | boolean | MetadataObject | MetadataValue[]
type MetadataObject = { [key: string]: MetadataValue | undefined }

/**
 * A loaded policy as a language model for the AI SDK. The last user message of a prompt is the question; the policy
 * builds a graph for it and runs it. No separate server is needed, for example in a Next.js app.
 *
 * @example
 * const model = organisedModel({ policy: await loadPolicy('runs/first'), model: openModel({ preset: 'deepseek' }) })
 * const { text } = await generateText({ model, prompt: 'What is 6 times 7?' })
 */
export function organisedModel({
  policy,
  model,
  tools,
  limit,
  settings,
}: OrganisedModelOptions): OrganisedModel {
  const { run } = policy
  const questions = new AskedQuestions(policy.folder, run, undefined)
  const isSimulated = model.identity.provider === 'simulated'
  let opened: Promise<ServedPolicy> | undefined
  const open = async (): Promise<ServedPolicy> => {
    const toolbox = tools ?? openToolbox(await sandboxOfRun(run.tools))
    return { ...{ id: run.name, policy, model, limit, settings, questions, isSimulated }, tools: toolbox }
  }
  const ask = async (
    question: PutQuestion,
    signal: AbortSignal | undefined,
    onProgress?: (progress: AnswerProgress) => void,
  ): Promise<Answered> => {
    opened ??= open()
    return answer(await opened, question, { signal, onProgress }).catch((error: unknown) => {
      // The SDK expects an abort error if its caller has cancelled.
      signal?.throwIfAborted()
      throw error
    })
  }
  return {
    ...{ specificationVersion: 'v4', provider: 'magic', modelId: run.name, supportedUrls: {} },
    async doGenerate(call) {
      const answered = await ask(questionOfCall(call), call.abortSignal)
      return { content: [{ type: 'text', text: answered.content }], ...endOf(answered), warnings: [] }
    },
    async doStream(call) {
      // An unreadable prompt throws here, not in the stream.
      const question = questionOfCall(call)
      const left = new AbortController()
      const signal = AbortSignal.any([
        left.signal,
        ...(call.abortSignal === undefined ? [] : [call.abortSignal]),
      ])
      const stream = new ReadableStream<OrganisedPart>({
        async start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] })
          const tell = (rawValue: AnswerProgress) => {
            if (call.includeRawChunks && !left.signal.aborted) controller.enqueue({ type: 'raw', rawValue })
          }
          try {
            const answered = await ask(question, signal, tell)
            const id = answered.magic.trace
            controller.enqueue({ type: 'text-start', id })
            controller.enqueue({ type: 'text-delta', id, delta: answered.content })
            controller.enqueue({ type: 'text-end', id })
            controller.enqueue({ type: 'finish', ...endOf(answered) })
          } catch (error) {
            if (left.signal.aborted) return
            controller.enqueue({ type: 'error', error })
          }
          controller.close()
        },
        cancel: () => left.abort(),
      })
      return { stream }
    },
  }
}

const promptSchema = z.object({
  prompt: z.array(
    z.discriminatedUnion('role', [
      z.object({ role: z.literal('user'), content: contentSchema }),
      z.object({
        role: z.enum(['system', 'assistant', 'tool']),
        content: z.union([z.string(), z.array(z.unknown()).transform(textOf)]),
      }),
    ]),
  ),
})

function questionOfCall({
  prompt,
  tools,
  responseFormat,
  seed,
  providerOptions,
}: OrganisedCall): PutQuestion {
  if (tools !== undefined && tools.length > 0) throw unsupported('tools')
  if (responseFormat !== undefined && responseFormat.type !== 'text') throw unsupported('structured output')
  const extension = checked(extensionSchema, providerOptions?.['magic'] ?? {})
  const { prompt: messages } = checked(promptSchema, { prompt })
  return questionOf(messages, { ...extension, seed: extension.seed ?? seed })
}

function unsupported(what: string): Refusal {
  return new Refusal(
    400,
    `A policy does not support ${what}: leave it out, or set \`providerOptions.magic.contract\`.`,
  )
}

/** Leaves out reasoning and tool calls of earlier turns, which a policy cannot use. */
function textOf(parts: readonly unknown[]): string {
  const said = z.object({ type: z.literal('text'), text: z.string() })
  return parts.map((part) => said.safeParse(part).data?.text ?? '').join('')
}

function endOf({ magic }: Answered): OrganisedEnd {
  return {
    usage: usageOf(magic.usage),
    finishReason: { unified: 'stop', raw: undefined },
    providerMetadata: { magic: JSON.parse(JSON.stringify(magic)) },
  }
}

/** Sum over all calls made for the answer. */
function usageOf({ input, cachedInput, output }: Usage) {
  return {
    inputTokens: {
      total: input,
      noCache: input - cachedInput,
      cacheRead: cachedInput,
      cacheWrite: undefined,
    },
    outputTokens: { total: output, text: undefined, reasoning: undefined },
  }
}
