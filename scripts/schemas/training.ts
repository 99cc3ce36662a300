import { z } from 'zod'
import { cost, count, evaluation, graph, object, spent } from './shapes.ts'

// `--json` output of the commands for training, ledgers and workers.

const range = object({ low: z.number(), expected: z.number(), high: z.number() })
const ledger = object({
  name: z.string(),
  title: z.string(),
  createdAt: z.string(),
  evaluations: count,
  replies: count,
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
const share = z.number().nullable()
const trained = object({
  run: z.string(),
  folder: z.string(),
  simulated: z.boolean(),
  status: z.enum(['finished', 'interrupted', 'budget-reached']),
  done: count,
  updates: count,
  spent,
  score: object({ first: share, last: share, questions: count }).describe(
    'First and last score of the questions that came up more than once.',
  ),
  retries: count.describe('Attempts beyond the first of each call.'),
  reused: object({ calls: count, tokens: count }).describe('What the ledger saved.'),
})

export const trainingSchemas = {
  train: trained,
  resume: trained,
  estimate: object({
    tasks: z.string(),
    organisation: z.string().nullable().describe('The system to train instead of a policy.'),
    model: z.string(),
    updates: count,
    calls: range,
    inputTokens: range,
    outputTokens: range,
    perQuestion: object({ calls: z.number(), tokens: z.number(), cost }),
  }),
  demo: object({
    simulated: z.literal(true),
    seed: count,
    quick: z.boolean(),
    training: object({ status: z.string(), folder: z.string(), done: count, updates: count, spent }),
    organisations: z.array(evaluation),
    example: object({ question: z.string(), graph, answer: z.json() }),
  }),
  experiment: object({
    format: z.literal('magic-experiment-1'),
    experiment: z.string(),
    title: z.string(),
    simulated: z.boolean(),
    deviations: z.array(z.string()).describe('Deviations from the paper.'),
    decisions: z.array(z.string()).describe('Our decisions where the paper leaves things open.'),
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
              text: z.string().describe('As shown in reports.'),
              runs: z.array(z.string()).optional().describe('Folders of the runs behind it.'),
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
    total: plannedStep.optional().describe('Absent if no model is called.'),
    simulatedLengths: z.literal(true),
  }),
  workers: object({
    workers: z.array(
      object({
        id: z.string().describe('Unique; changes when a worker restarts.'),
        name: z.string(),
        version: z.string(),
        state: z.enum(['working', 'draining', 'silent']),
        running: count.describe('Evaluations running now.'),
        done: count.describe('Evaluations since it took its lease.'),
        runs: z
          .array(object({ run: z.string(), running: count }))
          .describe('The runs it works for, with the number of evaluations running for each.'),
        rate: z.number().describe('Evaluations per second, over about ten seconds.'),
        calls: count.describe('Maximum concurrent model calls.'),
        seconds: z.number().describe('Since it took its lease.'),
        leaseSeconds: z.number().describe('Until the lease expires, unless renewed.'),
      }),
    ),
    queue: object({
      waiting: count,
      running: count,
      oldestSeconds: z.number(),
      rate: z.number().describe('Evaluations done per second, over the last minute.'),
      runs: z
        .array(object({ run: z.string(), waiting: count, running: count }))
        .describe('`waiting` and `running` by run.'),
    }),
    models: z
      .array(
        object({
          model: z.string(),
          callsPerMinute: z.number().describe('Over about the last 20 seconds.'),
          requestsPerMinute: z.number().nullable().describe('A limit set by a run.'),
          tokensPerMinute: z.number().nullable().describe('A limit set by a run.'),
          learnedPerMinute: z
            .number()
            .nullable()
            .describe('The current rate if the provider has refused calls (429) in the last ten minutes.'),
        }),
      )
      .describe('Models called in the last hour.'),
    refusals: z.array(object({ worker: z.string(), reason: z.string() })),
  }),
  'ledger-copy': object({
    from: z.string(),
    to: z.string(),
    tables: z
      .record(z.string(), object({ rows: count, sha256: z.string() }))
      .describe('Content of both ledgers, per table.'),
  }),
  'ledger-list': z.array(ledger),
  'ledger-remove': ledger,
}
