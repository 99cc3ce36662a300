import { z } from 'zod'
import { cost, count, evaluation, graph, matched, object, usage } from './shapes.ts'

// `--json` output of the commands that inspect runs and verify results.

const answer = object({
  run: z.string(),
  organisation: z.string(),
  split: z.string(),
  model: z.string(),
  record: object({ task: z.string(), score: z.number(), graph, graphKey: z.string(), usage, cost }),
  transcript: z
    .array(object({ node: z.string(), role: z.string(), status: z.string(), calls: z.array(object({})) }))
    .optional()
    .describe('Every node with its requests and replies, if they were stored.'),
})

const plannedEvaluation = object({
  organisation: z.string(),
  calls: count,
  inputTokens: count,
  outputTokens: count,
  cost,
})

export const resultsSchemas = {
  'eval-plan': object({
    tasks: z.string(),
    split: z.string(),
    questions: count,
    sampled: count.describe('Questions per organisation run on the simulated model.'),
    model: z.string(),
    organisations: z.array(plannedEvaluation),
    total: plannedEvaluation,
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
    listed: z
      .array(
        object({
          label: z.string(),
          base: z.string(),
          questions: z.array(
            object({ task: z.string(), outcome: z.enum(['won', 'lost']), answers: z.array(answer) }),
          ),
        }),
      )
      .optional()
      .describe('With --list: the questions on which an organisation and the base disagree.'),
    settings: z.array(object({ name: z.string(), values: z.record(z.string(), z.json()) })),
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
  'show-question': object({
    question: z.string(),
    answers: z.array(answer).describe('One per organisation, and what training did with the question.'),
  }),
  verify: object({
    run: z.string(),
    ok: z.boolean(),
    checks: z.array(object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
  }),
  view: object({ url: z.string(), runs: z.string().describe('The folder of the runs.') }),
  report: object({
    html: z.string(),
    markdown: z.string(),
    plots: z.string().describe('The folder of the plots of the Markdown file.'),
  }),
}
