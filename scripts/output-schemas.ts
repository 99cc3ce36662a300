// What `--json` prints, per command: npm run docs:schemas writes docs/schemas/*.json from here. Fields may be added; those
// that are named here stay. test/cli/output-schemas.test.ts holds them to what the commands print.
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const count = z.int().nonnegative()
const object = z.looseObject
const unit = object({
  role: z.string(),
  realization: z.enum(['atomic', 'group']),
  predecessors: z.array(count),
})
const graph = object({ units: z.array(unit) }).describe('Units in the order of their placement.')
const interval = object({ mean: z.number(), low: z.number(), high: z.number() })
const range = object({ low: z.number(), expected: z.number(), high: z.number() })
const cost = z.json().describe('`unpriced`, or an amount with its currency.')
const usage = object({ input: count, cachedInput: count, output: count, calls: count })
const spent = object({ calls: count, input: count, output: count, cost, minutes: z.number() })
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
  .describe('How the graph came about, with the probabilities of every choice.')
const matched = z
  .array(
    object({
      organisation: z.string(),
      tokens: z.number(),
      within: object({ answers: count, tokens: z.number(), score: z.number() }).optional(),
      above: object({ answers: count, tokens: z.number(), score: z.number() }).optional(),
    }),
  )
  .describe('Self-consistency at the tokens per question of each organisation, where it was evaluated.')
const evaluation = object({
  organisation: z.string(),
  description: z.string(),
  fidelity: z
    .string()
    .optional()
    .describe('Of a system of the literature: paper, released code or adaptation.'),
  split: z.string(),
  n: count,
  complete: z.boolean(),
  score: interval.describe('Mean over all questions, failures as zero, with its 95 % interval.'),
  tokens: object({ input: z.number(), output: z.number(), total: z.number() }).describe('Per question.'),
  calls: z.number().describe('Per question.'),
  cost,
})
const plannedStep = object({
  label: z.string(),
  updates: count,
  executions: count,
  calls: count,
  input: count,
  output: count,
  hours: z.number().describe('At 3 s per call.'),
  cost,
})
const trained = object({
  run: z.string(),
  folder: z.string(),
  simulated: z.boolean(),
  status: z.enum(['finished', 'interrupted', 'budget-reached']),
  done: count,
  updates: count,
  spent,
})

export const outputSchemas: Readonly<Record<string, z.ZodType>> = {
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
  compare: object({
    split: z.string(),
    metric: z.string(),
    data: z.string(),
    base: z.string(),
    matched,
    evaluations: z.array(
      evaluation.extend({
        label: z.string(),
        run: z.string(),
        model: z.string(),
        simulated: z.boolean(),
        against: object({
          base: z.string(),
          questions: count,
          difference: z.number(),
          low: z.number(),
          high: z.number(),
        })
          .nullish()
          .describe('Paired difference from the base.'),
      }),
    ),
  }),
  'data-list': z.array(
    object({
      name: z.string(),
      title: z.string(),
      licence: z.string(),
      metric: z.string(),
      splits: z.array(object({ split: z.string(), examples: count, imported: z.boolean() })),
    }),
  ),
  demo: object({
    simulated: z.literal(true),
    seed: count,
    quick: z.boolean(),
    training: object({ status: z.string(), folder: z.string(), done: count, updates: count, spent }),
    organisations: z.array(evaluation),
    example: object({ question: z.string(), graph, answer: z.json() }),
  }),
  doctor: z.array(
    object({ what: z.string(), state: z.string(), found: z.string(), remedy: z.string().optional() }),
  ),
  estimate: object({
    tasks: z.string(),
    model: z.string(),
    updates: count,
    calls: range,
    inputTokens: range,
    outputTokens: range,
    perQuestion: object({ calls: z.number(), tokens: z.number(), cost }),
  }),
  eval: object({
    run: z.string(),
    split: z.string(),
    metric: z.string(),
    simulated: z.boolean(),
    ended: z.string(),
    matched,
    evaluations: z.array(evaluation.extend({ total: count, model: z.string() })),
  }),
  experiment: object({
    format: z.literal('magic-experiment-1'),
    experiment: z.string(),
    title: z.string(),
    simulated: z.boolean(),
    deviations: z.array(z.string()).describe('Where it is not the paper.'),
    decisions: z.array(z.string()).describe('What the paper leaves open.'),
    tables: z.array(
      object({
        id: z.string(),
        title: z.string(),
        source: z.enum(['measured', 'quoted', 'computed']),
        columns: z.array(z.string()),
        rows: z.array(
          z.array(
            object({
              value: z.union([z.number(), z.string(), z.boolean(), z.null()]).describe('Unrounded.'),
              text: z.string().describe('As a report shows it.'),
              runs: z.array(z.string()).optional().describe('Folders that it rests on.'),
            }),
          ),
        ),
      }),
    ),
    figures: z.array(object({ id: z.string(), title: z.string(), x: z.string(), y: z.string() })),
    facts: z.array(z.array(z.string())).describe('Names and values: versions, digests, prices.'),
  }),
  'experiment-plan': object({
    experiment: z.string(),
    steps: z.array(plannedStep),
    total: plannedStep.optional().describe('Absent where no model is asked.'),
    simulatedLengths: z.literal(true),
  }),
  'ledger-copy': object({
    from: z.string(),
    to: z.string(),
    tables: z
      .record(z.string(), object({ rows: count, sha256: z.string() }))
      .describe('What both hold, per table.'),
  }),
  workers: object({
    workers: z.array(
      object({
        name: z.string(),
        version: z.string(),
        state: z.enum(['working', 'draining', 'silent']),
        running: count.describe('Evaluations under way.'),
        done: count.describe('Evaluations since it took its lease.'),
        rate: z.number().describe('Evaluations per second, over about the last ten.'),
        calls: count.describe('Model calls in flight at most.'),
        seconds: z.number().describe('Since it took its lease.'),
        leaseSeconds: z.number().describe('Until the lease runs out, unless it is renewed.'),
      }),
    ),
    queue: object({
      waiting: count,
      running: count,
      oldestSeconds: z.number(),
      rate: z.number().describe('Evaluations done per second, over the last minute.'),
    }),
    refusals: z.array(object({ worker: z.string(), reason: z.string() })),
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
  organisations: object({
    organisations: z.array(
      object({
        name: z.string(),
        category: z.string(),
        kind: z.string().describe('organises or drives, and whether it learns.'),
        description: z.string(),
        fidelity: z.string(),
        source: z.string(),
        differences: z.array(z.string()),
        options: z.array(object({ name: z.string(), value: z.string(), description: z.string().optional() })),
      }),
    ),
    ofRuns: z.array(object({ name: z.string(), description: z.string() })),
  }),
  init: object({
    folder: z.string(),
    written: z.array(z.string()),
    kept: z.array(z.string()),
    next: z.array(object({ command: z.string(), what: z.string() })),
  }),
  resume: trained,
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
  show: object({
    folder: z.string(),
    run: object({ format: z.literal('magic-run-1'), name: z.string() }),
    done: count,
    finished: z.boolean(),
    graphs: z.array(object({ graph, key: z.string(), count })),
    evaluations: z.array(evaluation),
    updates: z.array(object({ update: count })),
  }),
  'show-runs': z.array(
    object({ name: z.string(), folder: z.string(), done: count.optional(), problem: z.string().optional() }),
  ),
  simulate: object({ simulated: z.literal(true), baseURL: z.string(), model: z.string() }),
  train: trained,
  verify: object({
    run: z.string(),
    ok: z.boolean(),
    checks: z.array(object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
  }),
}

/** A schema's file, and what belongs into it. */
export function schemaFiles(): { readonly file: URL; readonly text: string }[] {
  return Object.entries(outputSchemas).map(([name, schema]) => {
    const command = name === 'show-runs' ? 'show' : name.replace('-', ' ')
    const described = { title: `magic ${command} --json`, ...z.toJSONSchema(schema) }
    return {
      file: new URL(`../docs/schemas/${name}.json`, import.meta.url),
      text: `${JSON.stringify(described, null, 2)}\n`,
    }
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(new URL('../docs/schemas/', import.meta.url), { recursive: true })
  for (const { file, text } of schemaFiles()) writeFileSync(file, text)
}
