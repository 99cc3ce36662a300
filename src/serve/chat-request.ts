// The part of OpenAI's chat completions that a policy supports, and its extension field.
import { z } from 'zod'
import { contractKinds } from '../library/answer-contract.ts'
import type { Option, Task } from '../library/task.ts'
import { programSchema, tableSchema, testSchema } from '../tasks/own/question.ts'
import type { PutQuestion } from './answer.ts'
import { Refusal } from './refusal.ts'

const text = z.string()
const filled = text.refine((value) => value.trim() !== '', 'must not be blank')
const kinds = Object.keys(contractKinds) as (keyof typeof contractKinds)[]

/** The extension field `magic` of a request. Strict, to catch misspelt fields. */
export const extensionSchema = z.strictObject({
  contract: z.enum(kinds).optional(),
  options: z
    .union([
      z.array(filled).min(2).max(26).transform(lettered),
      z.array(z.strictObject({ label: filled, text })).min(2),
    ])
    .optional(),
  tables: z.array(tableSchema).optional(),
  program: programSchema.optional(),
  publicTests: z.array(testSchema.required()).optional(),
  seed: z.int().nonnegative().optional(),
})

type Extension = z.output<typeof extensionSchema>

const textPart = z.object({
  type: z.literal('text', {
    error: ({ input }) => `only text parts are supported here, not ${JSON.stringify(input)}`,
  }),
  text,
})
export const contentSchema = z.union(
  [text, z.array(textPart).transform((parts) => parts.map((part) => part.text).join(''))],
  'must be text, or a list of parts such as {"type": "text", "text": "…"}',
)

const messageSchema = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: contentSchema.nullish().transform((said) => said ?? ''),
})

export type SaidMessage = z.output<typeof messageSchema>

/** A field that must be absent or have a value that changes nothing. */
const unsupported = (allowed: readonly unknown[]) =>
  z
    .unknown()
    .refine((value) => value === null || allowed.includes(value), 'is not supported: leave it out')
    .optional()

/** Sampling fields such as `temperature` are ignored: the models are called with the run's settings. */
const requestSchema = z.object({
  model: text.min(1),
  messages: z.array(messageSchema).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  seed: z.int().nonnegative().nullish(),
  n: unsupported([1]),
  tools: z.array(z.never('tools are not supported: leave them out')).nullish(),
  tool_choice: unsupported(['none', 'auto']),
  logprobs: unsupported([false]),
  response_format: z
    .object({ type: z.literal('text', "must be 'text': use `magic.contract` instead") })
    .nullish(),
  magic: extensionSchema.default({}),
})

export interface ChatRequestBody {
  readonly model: string
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly question: PutQuestion
}

/** Reads a request's body. Throws a `Refusal` that names the wrong field. */
export function readChatRequest(body: string): ChatRequestBody {
  const { model, messages, stream, stream_options, seed, magic } = checked(requestSchema, parse(body))
  return {
    model,
    stream: stream === true,
    includeUsage: stream_options?.include_usage === true,
    question: questionOf(messages, { ...magic, seed: magic.seed ?? seed ?? undefined }),
  }
}

/** The last user message is the question; the other messages are its public context, in order. */
export function questionOf(messages: readonly SaidMessage[], extension: Extension): PutQuestion {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const question = messages[last]?.content ?? ''
  if (question.trim() === '')
    throw new Refusal(400, 'There is no question: the last user message is missing or empty.', {
      ...{ code: 'invalid_value', param: 'messages' },
    })
  const context = messages.flatMap(({ role, content: said }, index) =>
    index === last || said.trim() === '' ? [] : [speaker(role) + said],
  )
  const { contract, seed, ...fields } = extension
  const task: Task = {
    ...{ id: question, question, metadata: {}, ...fields },
    context: context.length === 0 ? undefined : context,
  }
  return { task, seed, contract: contract && contractKinds[contract] }
}

/** Marks who said what in a conversation. Instructions need no mark. */
function speaker(role: SaidMessage['role']): string {
  if (role === 'system' || role === 'developer') return ''
  return `${role[0]!.toUpperCase()}${role.slice(1)}: `
}

function lettered(texts: readonly string[]): Option[] {
  return texts.map((option, index) => ({ label: String.fromCharCode(65 + index), text: option }))
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw new Refusal(400, 'The body is not valid JSON.', { code: 'invalid_json' })
  }
}

/** Reports only the first problem, so that a hostile request cannot provoke a long reply. */
export function checked<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(given)
  if (error === undefined) return data
  const { path, message } = precise(error.issues[0]!)
  const param = path.join('.').slice(0, 100)
  throw new Refusal(400, `${param === '' ? 'The body' : `'${param}'`}: ${message.slice(0, 300)}`, {
    ...{ code: 'invalid_value', param: param === '' ? undefined : param },
  })
}

type Issue = Pick<z.core.$ZodIssue, 'path' | 'message'>

/** If a value matches none of several forms, reports the deepest problem: that form was most likely meant. */
function precise(issue: z.core.$ZodIssue): Issue {
  if (issue.code !== 'invalid_union') return issue
  const inside = issue.errors.flatMap((errors) => (errors[0] === undefined ? [] : [precise(errors[0])]))
  const deepest = inside.toSorted((a, b) => b.path.length - a.path.length)[0]
  if (deepest === undefined || deepest.path.length === 0) return issue
  return { path: [...issue.path, ...deepest.path], message: deepest.message }
}
