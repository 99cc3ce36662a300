import { z } from 'zod'
import { cost, count, graph, object, usage } from './shapes.ts'

// `--json` output of the commands that use policies, and of the remaining ones.

const probabilities = z.record(z.string(), z.number())
const steps = z
  .array(
    object({
      action: object({ type: z.string() }),
      probability: z.number(),
      stop: z.number().optional(),
      roles: probabilities.optional(),
      realizations: probabilities.optional(),
    }),
  )
  .describe('How the graph was built, with the probabilities of every choice.')
const benchmark = object({
  name: z.string(),
  title: z.string(),
  licence: z.string(),
  metric: z.string(),
  splits: z.array(object({ split: z.string(), examples: count, imported: z.boolean() })),
})
const imported = object({
  name: z.string(),
  splits: z.array(
    object({
      split: z.string(),
      examples: count,
      files: z.array(object({ path: z.string(), bytes: count, sha256: z.string() })),
    }),
  ),
})

export const useSchemas = {
  ask: object({
    run: z.string(),
    update: count,
    seed: count,
    task: object({ id: z.string(), question: z.string() }),
    split: z.string().nullable(),
    contract: z.string(),
    graph,
    key: z.string(),
    steps,
    status: z.string(),
    answer: z.json(),
    simulated: z.boolean(),
    guess: z.boolean(),
    usage,
    cost,
    durationMs: z.number(),
    failures: z.array(object({ executor: z.string(), status: z.string() })),
  }),
  serve: object({
    baseURL: z.string(),
    models: z.array(object({ id: z.string(), update: count, simulated: z.boolean() })),
  }),
  export: object({
    run: z.string(),
    path: z.string(),
    files: z.record(z.string(), count).describe('Names and bytes.'),
    update: count,
  }),
  graph: object({
    question: z.string(),
    seed: count,
    policy: z.string(),
    graph,
    key: z.string(),
    steps,
    mermaid: z.string(),
    dot: z.string(),
  }),
  run: object({
    version: z.literal(1),
    execution: z.string(),
    startedAt: z.string(),
    durationMs: z.number(),
    status: z.string(),
    task: z.string(),
    graph,
    contract: z.string(),
    model: object({ provider: z.string(), model: z.string() }),
    nodes: z.array(object({ node: z.string(), executor: z.string(), status: z.string() })),
    usage,
    cost,
  }),
  simulate: object({ simulated: z.literal(true), baseURL: z.string(), model: z.string() }),
  'data-list': z.array(benchmark),
  'data-show': benchmark.extend({
    contract: z.string().describe('What an answer must look like.'),
    split: z.string().nullable(),
    examples: z.array(object({ id: z.string(), question: z.string() })),
  }),
  'data-import': imported,
  'data-pull': imported.extend({ licence: z.string() }),
  doctor: z.array(
    object({ what: z.string(), state: z.string(), found: z.string(), remedy: z.string().optional() }),
  ),
  init: object({
    folder: z.string(),
    written: z.array(z.string()),
    kept: z.array(z.string()),
    next: z.array(object({ command: z.string(), what: z.string() })),
  }),
}
