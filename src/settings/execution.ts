import { z } from 'zod'
import { paperConcurrency } from '../models/call-limit.ts'
import { paperDecoding } from '../models/chat-model.ts'
import { priceTableSchema } from '../models/prices.ts'

const length = (least: number, usual: number) => z.int().min(least).default(usual)

/** In code points of JSON text; cuts are marked. See length-budget.ts. */
const budgets = z
  .strictObject({
    analysis: length(200, 8000).describe("Characters of a predecessor's analysis that a request shows."),
    answer: length(200, 16_000).describe("Characters of a predecessor's answer that a request shows."),
    observation: length(200, 4000).describe('Characters of a tool observation that a request shows.'),
    task: length(1000, 100_000).describe('Characters of the public task that a request shows.'),
    request: length(4000, 200_000).describe('Characters of a whole user message.'),
  })
  .prefault({})

const decoding = z
  .strictObject({
    temperature: z
      .number()
      .min(0)
      .max(2)
      .default(paperDecoding.temperature)
      .describe("Temperature of the agents' replies."),
    maxOutputTokens: z
      .int()
      .min(1)
      .default(paperDecoding.maxOutputTokens)
      .describe('Limit on the tokens of one reply.'),
    thinking: z.boolean().default(paperDecoding.thinking).describe('Let the model think before it replies.'),
    json: z.boolean().default(paperDecoding.json).describe('Ask for the json_object output mode.'),
  })
  .prefault({})

/** Concurrent model calls of a run. */
export const concurrencySetting = z
  .int()
  .min(1)
  .max(10_000)
  .default(paperConcurrency)
  .describe('Maximum concurrent model calls.')

export const defaultConcurrency = concurrencySetting.parse(undefined)

/** How graphs are executed. */
export const executionSettings = z.strictObject({
  decoding: decoding.describe('How the model writes.'),
  budgets: budgets.describe('How much of a text goes into a request.'),
  attemptSeconds: z
    .number()
    .positive()
    .default(150)
    .describe('Seconds for one attempt of a call. A model client has its own limit, usually shorter.'),
  toolSeconds: z
    .number()
    .positive()
    .default(120)
    .describe('Seconds for one use of a tool, including waiting for a sandbox.'),
  executionSeconds: z
    .number()
    .positive()
    .optional()
    .describe('Seconds for a whole execution, including waiting for the call limit. Default: no limit.'),
  requestsPerMinute: z
    .number()
    .positive()
    .optional()
    .describe(
      "The provider's limit on requests per minute; calls wait for it. Default: no limit until the provider refuses.",
    ),
  tokensPerMinute: z
    .number()
    .positive()
    .optional()
    .describe("The provider's limit on input and output tokens per minute; calls wait for it."),
  traceContent: z.boolean().default(true).describe('Keep requests and replies in the trace.'),
  telemetryContent: z.boolean().default(false).describe('Put requests and replies into OpenTelemetry spans.'),
  repeatStarterCode: z
    .boolean()
    .default(false)
    .describe('Show starter code even if it is the question itself, as earlier versions did.'),
  prices: priceTableSchema.default({}).describe('Prices by provider/model, overriding the published ones.'),
})

export type ExecutionSettings = z.output<typeof executionSettings>
export type Budgets = ExecutionSettings['budgets']

export const defaultSettings: ExecutionSettings = executionSettings.parse({})
