import { z } from 'zod'
import { cost, count, evaluation, graph, object, spent } from './shapes.ts'

// What the commands that train and look after ledgers and workers print with `--json`.

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
    'On the questions that were asked more than once, the first and the last time.',
  ),
  retries: count.describe('Attempts beyond the first of each call.'),
  reused: object({ calls: count, tokens: count }).describe('What the ledger saved.'),
})

export const trainingSchemas = {
  train: trained,
  resume: trained,
  estimate: object({
    tasks: z.string(),
    organisation: z.string().nullable().describe('The system to train in place of a policy.'),
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
  workers: object({
    workers: z.array(
      object({
        id: z.string().describe('Unique; it changes when a worker starts again.'),
        name: z.string(),
        version: z.string(),
        state: z.enum(['working', 'draining', 'silent']),
        running: count.describe('Evaluations under way.'),
        done: count.describe('Evaluations since it took its lease.'),
        runs: z
          .array(object({ run: z.string(), running: count }))
          .describe('The runs that it works for, with the evaluations under way for each.'),
        rate: z.number().describe('Evaluations per second, over about the last ten.'),
        calls: count.describe('Most model calls in flight.'),
        seconds: z.number().describe('Since it took its lease.'),
        leaseSeconds: z.number().describe('Until the lease runs out, unless it is renewed.'),
      }),
    ),
    queue: object({
      waiting: count,
      running: count,
      oldestSeconds: z.number(),
      rate: z.number().describe('Evaluations done per second, over the last minute.'),
      runs: z.array(object({ run: z.string(), waiting: count, running: count })).describe('The same by run.'),
    }),
    models: z
      .array(
        object({
          model: z.string(),
          callsPerMinute: z.number().describe('Over about the last 20 seconds.'),
          requestsPerMinute: z.number().nullable().describe('A limit that a run stated.'),
          tokensPerMinute: z.number().nullable().describe('A limit that a run stated.'),
          learnedPerMinute: z
            .number()
            .nullable()
            .describe('The current rate if the provider has refused calls (429) in the last ten minutes.'),
        }),
      )
      .describe('The models that were called in the last hour.'),
    refusals: z.array(object({ worker: z.string(), reason: z.string() })),
  }),
  'ledger-copy': object({
    from: z.string(),
    to: z.string(),
    tables: z
      .record(z.string(), object({ rows: count, sha256: z.string() }))
      .describe('What both hold, per table.'),
  }),
  'ledger-list': z.array(ledger),
  'ledger-remove': ledger,
}
