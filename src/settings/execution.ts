import { z } from 'zod'
import { paperDecoding } from '../models/chat-model.ts'
import { priceTableSchema } from '../models/prices.ts'

const length = (least: number, usual: number) => z.int().min(least).default(usual)

/** In code points of JSON text; see length-budget.ts. */
const budgets = z
  .strictObject({
    analysis: length(200, 8000).describe("Of a predecessor's analysis."),
    answer: length(200, 16_000).describe("Of a predecessor's answer."),
    observation: length(200, 4000).describe('Of a tool observation, for the node that asked and for others.'),
    task: length(1000, 100_000).describe('Of the public task.'),
    request: length(4000, 200_000).describe('Of the whole user message.'),
  })
  .prefault({})

const decoding = z
  .strictObject({
    temperature: z.number().min(0).max(2).default(paperDecoding.temperature),
    maxOutputTokens: z.int().min(1).default(paperDecoding.maxOutputTokens),
    thinking: z.boolean().default(paperDecoding.thinking),
    json: z.boolean().default(paperDecoding.json).describe('Ask for the json_object output mode.'),
  })
  .prefault({})

/** How graphs are executed, whatever the graph, task and model. */
export const executionSettings = z.strictObject({
  decoding: decoding.describe('How the model writes.'),
  budgets: budgets.describe('How much of a text goes into a request; a cut is marked.'),
  attemptSeconds: z
    .number()
    .positive()
    .default(150)
    .describe('Limit on one attempt of a call. A model client has its own, which is usually shorter.'),
  toolSeconds: z
    .number()
    .positive()
    .default(120)
    .describe('Limit on one use of a tool, waiting for a sandbox included.'),
  executionSeconds: z
    .number()
    .positive()
    .optional()
    .describe('Limit on a whole execution, waiting for the call limit included. None by default.'),
  traceContent: z.boolean().default(true).describe('Keep requests and replies in the trace.'),
  telemetryContent: z.boolean().default(false).describe('Put requests and replies into OpenTelemetry spans.'),
  prices: priceTableSchema.default({}).describe('Prices by provider/model, before the published ones.'),
})

export type ExecutionSettings = z.output<typeof executionSettings>
export type Budgets = ExecutionSettings['budgets']

export const defaultSettings: ExecutionSettings = executionSettings.parse({})
