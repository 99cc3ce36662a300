import { z } from 'zod'
import type { DriveContext } from '../execution/drive.ts'
import type { JsonObject, JsonValue } from '../library/json-value.ts'
import { prompt } from '../library/prompt.ts'
import { defineOrganisation } from './organisation.ts'

const options = z.object({
  tries: z.int().min(1).max(10).default(3).describe('tries per subtask'),
  plans: z.int().min(1).max(10).default(5).describe('maximum number of plans'),
  subtasks: z.int().min(1).max(12).default(6).describe('maximum subtasks per plan'),
  python: z
    .boolean()
    .default(true)
    .describe('whether the planner may write Python checks, which run in the sandbox'),
})

type Settings = z.output<typeof options>

export const verimap = defineOrganisation({
  name: 'verimap',
  category: 'adaptive',
  description:
    'A planner writes subtasks with checks; each is retried with feedback until its checks pass, else it plans anew.',
  fidelity: 'paper',
  source: 'VeriMAP, method section; no code is public.',
  differences: [
    'Prompts are ours. Python written by the planner only runs in the sandbox; without one, it may only state criteria.',
    'A plan has at most 6 subtasks.',
  ],
  options,
  drive: (_, settings) => async (context) => {
    const traces: JsonValue[] = []
    let last: JsonValue | undefined
    const python = settings.python && context.runsPrograms
    for (let number = 1; number <= settings.plans && !context.signal.aborted; number += 1) {
      if (number > 1) context.note('plans', number)
      const plan = await planned(context, traces, python, settings)
      if (plan === undefined) break
      const { outputs, failed } = await carriedOut(context, plan, settings)
      last = outputs[plan.result] ?? last
      if (failed === undefined) break
      traces.push({ plan: plan as unknown as JsonValue, failed })
    }
    return last
  },
})

const check = z.union([z.object({ python: z.string().min(1) }), z.object({ criterion: z.string().min(1) })])

const subtask = z.object({
  id: z.string().min(1),
  instruction: z.string().min(1),
  inputs: z.array(z.string()),
  outputs: z.array(z.string().regex(/^[A-Za-z_]\w*$/)).min(1),
  checks: z.array(check).min(1),
})

const planReply = z
  .object({ subtasks: z.array(subtask).min(1), result: z.string() })
  .superRefine((plan, at) => {
    const order = inOrder(plan.subtasks)
    if (order === undefined)
      at.addIssue('An input is the output of no subtask, or subtasks wait for each other.')
    const outputs = plan.subtasks.flatMap((one) => one.outputs)
    if (new Set(outputs).size !== outputs.length) at.addIssue('Two outputs have one name.')
    if (!outputs.includes(plan.result)) at.addIssue('"result" is the output of no subtask.')
  })

type Subtask = z.output<typeof subtask>
type Plan = z.output<typeof planReply>

/** Orders subtasks so that each comes after those whose outputs it needs; undefined if that is impossible. */
function inOrder(subtasks: readonly Subtask[]): Subtask[] | undefined {
  const ordered: Subtask[] = []
  const there = new Set<string>()
  let waiting = [...subtasks]
  while (waiting.length > 0) {
    const ready = waiting.filter(({ inputs }) => inputs.every((name) => there.has(name)))
    if (ready.length === 0) return undefined
    for (const one of ready) for (const name of one.outputs) there.add(name)
    ordered.push(...ready)
    waiting = waiting.filter((one) => !ready.includes(one))
  }
  return ordered
}

async function planned(
  context: DriveContext,
  traces: readonly JsonValue[],
  python: boolean,
  { subtasks: most }: Settings,
): Promise<Plan | undefined> {
  const checks = python
    ? '{"python": "assertions about the inputs and outputs by their names"} or {"criterion": "a sentence"}'
    : '{"criterion": "a sentence"}'
  const { value } = await context.consult({
    role: 'planner',
    prompt: prompt(
      `You break a question down into subtasks for others, and say for each how its result is to be checked.`,
      `If there are "traces" of earlier plans, plan differently where they failed.`,
    ),
    brief: { checks_in_python: python, ...(traces.length > 0 && { traces: [...traces] }) },
    reply: {
      subtasks: `a list of 1 to ${most} objects {"id", "instruction", "inputs": [names of earlier outputs], "outputs": [names], "checks": [at least one of ${checks}]}`,
      result: 'the name of the output that is the answer, of the form that "answer_requirement" asks for',
    },
    schema: planReply.refine(
      ({ subtasks }) =>
        subtasks.length <= most &&
        (python || subtasks.every(({ checks: all }) => all.every((one) => 'criterion' in one))),
      python ? `There may be ${most} subtasks at most.` : 'Checks must be criteria here.',
    ),
  })
  if (value === undefined) context.note('unreadable plan', true)
  return value
}

/** Runs the subtasks in order. The plan ends if one fails its checks in all tries. */
async function carriedOut(context: DriveContext, plan: Plan, { tries }: Settings) {
  const outputs: Record<string, JsonValue> = {}
  for (const one of inOrder(plan.subtasks)!) {
    const inputs = Object.fromEntries(one.inputs.map((name) => [name, outputs[name]!]))
    let problems: string[] = []
    for (let attempt = 1; ; attempt += 1) {
      const made = await executed(context, one, inputs, problems, plan.result)
      problems =
        made === undefined
          ? ['The reply was not of the form.']
          : await failedChecks(context, one, inputs, made)
      Object.assign(outputs, made)
      if (problems.length === 0) break
      if (attempt === tries) return { outputs, failed: { subtask: one.id, problems } }
    }
  }
  return { outputs, failed: undefined }
}

async function executed(
  context: DriveContext,
  { instruction, outputs: names }: Subtask,
  inputs: JsonObject,
  feedback: readonly string[],
  result: string,
): Promise<JsonObject | undefined> {
  const outputs = z.object({ outputs: z.record(z.string(), z.json()) })
  const { value } = await context.consult({
    role: 'executor',
    prompt: prompt(`You carry out one subtask of a plan. Do what "instruction" says, with the inputs given.`),
    brief: {
      instruction,
      inputs,
      outputs: [...names],
      result,
      ...(feedback.length > 0 && { feedback: [...feedback] }),
    },
    reply: {
      outputs:
        'an object with a value for each of the names under "outputs"; that of "result" is an answer as "answer_requirement" says',
    },
    schema: outputs
      .refine(
        (given) => names.every((name) => Object.hasOwn(given.outputs, name)),
        `Outputs are ${names.join(', ')}.`,
      )
      .refine(
        (given) => !names.includes(result) || context.accepts(given.outputs[result] as JsonValue),
        `${result} is no answer of the form.`,
      ),
    repair: false,
  })
  return value?.outputs as JsonObject | undefined
}

/** The problems found by the checks; empty if all pass. */
async function failedChecks(
  context: DriveContext,
  { instruction, checks, outputs: names }: Subtask,
  inputs: JsonObject,
  made: JsonObject,
): Promise<string[]> {
  const outputs = Object.fromEntries(names.map((name) => [name, made[name]!]))
  const problems: string[] = []
  for (const one of checks) {
    if ('python' in one) {
      const outcome = await context.program(checkProgram(one.python, { ...inputs, ...outputs }))
      if (!outcome.ran) problems.push(`The check could not run: ${outcome.reason}`)
      else if (outcome.ended !== 'exited with 0') problems.push(lastLine(outcome.stderr) ?? outcome.ended)
      continue
    }
    const { value } = await context.consult({
      role: 'verifier',
      prompt: prompt(
        `You check the result of a subtask against one criterion, and advise what to do better.`,
      ),
      brief: { instruction, inputs, outputs, criterion: one.criterion },
      reply: { passed: 'true or false', advice: 'what to do better, or an empty text' },
      schema: z.object({ passed: z.boolean(), advice: z.string() }),
      repair: false,
    })
    if (value?.passed !== true) problems.push(value?.advice || `Not passed: ${one.criterion}`)
  }
  return problems
}

/** The planner's assertions, with inputs and outputs by name. All are passed as data, so they cannot break out of the program text. */
function checkProgram(assertions: string, values: JsonObject): string {
  const data = JSON.stringify(JSON.stringify(values))
  const source = JSON.stringify(assertions)
  return `import json\nvalues = json.loads(${data})\nexec(${source}, dict(values))\n`
}

function lastLine(text: string): string | undefined {
  return text.trim().split('\n').at(-1)?.slice(0, 500) || undefined
}
