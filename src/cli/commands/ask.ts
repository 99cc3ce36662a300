import { Command } from 'commander'
import { loadCheckpoint } from '../../evaluation/named-organisation.ts'
import { solve } from '../../evaluation/solve.ts'
import type { TrainedPolicy } from '../../evaluation/trained-policy.ts'
import type { Execution } from '../../execution/execution.ts'
import { taskView } from '../../execution/text.ts'
import { openToolbox } from '../../execution/toolbox.ts'
import type { AgentGraph } from '../../graph/agent-graph.ts'
import { graphKey } from '../../graph/graph-key.ts'
import { mermaid } from '../../graph/render/mermaid.ts'
import { expandedPicture } from '../../graph/render/picture.ts'
import { type ContractKind, contractKinds } from '../../library/answer-contract.ts'
import type { Task } from '../../library/task.ts'
import { CallLimit } from '../../models/call-limit.ts'
import { knownTasks } from '../../simulator/model/known-task.ts'
import { KnownTasks } from '../../simulator/model/known-tasks.ts'
import { askedTask } from '../../simulator/model/node-request.ts'
import { contractFor, recordedContract } from '../../tasks/contract-for.ts'
import type { TaskSet } from '../../tasks/task-set.ts'
import { graphDrawing } from '../display/graph-drawing.ts'
import { screenOf } from '../display/screen.ts'
import { jsonText, printable } from '../display/terminal-text.ts'
import { exitCodeHelp } from '../exit-code.ts'
import { interruptSignal } from '../interrupt.ts'
import { type JobOptions, reopenToAsk } from '../job.ts'
import { encoderOfRun, existingRun } from '../open-run.ts'
import {
  checkpointOption,
  concurrencyOption,
  contractOption,
  drawSeedOption,
  jsonOption,
  runsDirOption,
} from '../options/common-options.ts'
import { readOptions } from '../options/given-options.ts'
import { readTaskFile } from '../options/input-file.ts'
import { addModelOptions } from '../options/model-options.ts'
import { readStandardInput } from '../options/standard-input.ts'
import { UsageError } from '../problem.ts'
import { startTelemetry } from '../telemetry.ts'
import { describeStep, type ExplainedStep, executorLabel, explainStep } from '../views/construction-view.ts'
import { answerText, executionCode, executionSummary } from '../views/execution-summary.ts'
import { LiveNodes } from '../views/live-nodes.ts'

interface AskOptions extends JobOptions {
  readonly options?: readonly string[]
  readonly task?: string
  readonly context?: readonly string[]
  readonly contract?: ContractKind
  readonly seed?: number
  readonly update?: number
  readonly expanded: boolean
  readonly json: boolean
}

export function askCommand(): Command {
  const command = new Command('ask')
    .description("Ask a run's policy a question: it builds a graph for it, runs it, and answers.")
    .argument('<run>', 'name or folder of the run')
    .argument('[question]', 'the question, or - to read it from standard input')
    .option('--options <texts...>', 'what there is to choose from, such as "A) Paris" "B) Rome"')
    .option('--context <texts...>', 'passages that belong to the question')
    .option('--task <file>', 'the whole task as JSON instead, as `magic run` takes it')
    .addOption(contractOption())
    .addOption(drawSeedOption())
    .addOption(checkpointOption())
    .addOption(concurrencyOption("the run's"))
    .addOption(runsDirOption())
    .option('--expanded', 'also print the graph with the workers of its groups, as Mermaid text', false)
    .addOption(jsonOption())
  return addModelOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  magic ask first "A shop sells 3 pens for 2 euros. What do 12 pens cost, in euros?"
  magic ask first "Which is a prime number?" --options "A) 21" "B) 23" "C) 27"
  magic ask first --task task.json --json | jq .answer
  echo "What is 17 times 23?" | magic ask first -

The answer goes to standard output, all else to standard error. The same question and seed give the same graph.
Without --contract the answer looks as the run's tasks ask for it; where those are of several kinds, as the synthetic
ones are, options ask for one of them, a program for code, and anything else for a number. A question that stands in
the run's tasks word for word is taken from there, with its options and tables. The simulated model knows the
answers of those only: at anything else it guesses, and this command says so. The run's folder is enough: where its
questions are gone, it is asked without them.
${exitCodeHelp}`,
    )
    .action(async (run: string, question: string | undefined, options: AskOptions) => {
      process.exitCode = await ask(run, question, options)
    })
}

async function ask(name: string, question: string | undefined, options: AskOptions): Promise<number> {
  const folder = existingRun(name, options.runsDir)
  const given = await readTask(question, options)
  const run = folder.readRecord()
  const view = new LiveNodes()
  const say = (text: string) => view.notice(printable(text))
  const signal = interruptSignal(say)
  const endTelemetry = await startTelemetry()
  const job = await reopenToAsk(run, options, say)
  try {
    const { set, isSimulated } = job
    const { seed, update, expanded } = options
    const encoder = await encoderOfRun(run, say)
    const policy = await loadCheckpoint(folder, { encoder, update })
    const { task, split } = given.isBare
      ? knownByQuestion(set, given.task)
      : { task: given.task, split: undefined }
    const contract =
      options.contract !== undefined
        ? contractKinds[options.contract]
        : set === undefined
          ? recordedContract(Object.keys(run.executors), task)
          : contractFor(set, task)
    let steps: readonly ExplainedStep[] = []
    const execution = await solve({
      policy,
      task,
      contract,
      seed,
      model: job.model,
      tools: openToolbox(job.sandbox, job.tools),
      limit: new CallLimit(job.concurrency),
      signal,
      onConstruction: (construction) => {
        const { query, graph } = construction
        steps = construction.steps.map((step) => explainStep(policy.policy, query, step, construction))
        if (!options.json) showConstruction({ policy, task, split, steps, graph, expanded })
      },
      onEvent: options.json ? () => {} : view.listen,
    })
    const { graph } = execution
    const isGuess = isSimulated && !isKnown(set, task)
    if (options.json) {
      const { status, answer, usage, cost, durationMs, failures } = execution
      process.stdout.write(
        `${jsonText({
          ...{ run: run.name, update: policy.update, seed: seed ?? run.training.seed },
          ...{ task, split: split ?? null, contract: contract.name },
          ...{ graph, key: graphKey(graph), steps },
          ...{ status, answer: answer ?? null, simulated: isSimulated, guess: isGuess },
          ...{ usage, cost, durationMs },
          failures: failures.map(({ executor, status, reason }) => ({ executor, status, reason })),
        })}\n`,
      )
    } else showAnswer(execution, isSimulated, isGuess)
    return executionCode(execution)
  } finally {
    await job.close()
    await endTelemetry()
  }
}

interface GivenTask {
  readonly task: Task
  /** Nothing but a question was given. */
  readonly isBare: boolean
}

async function readTask(question: string | undefined, options: AskOptions): Promise<GivenTask> {
  const { task: file, options: choices, context } = options
  if (file !== undefined) {
    if (question !== undefined || choices !== undefined || context !== undefined)
      throw new UsageError('--task is the whole task: leave out the question, --options and --context.')
    return { task: readTaskFile(file), isBare: false }
  }
  if (question === undefined)
    throw new UsageError('There is no question. Give it right after the run, before --options and --context.')
  const text = question === '-' ? await readStandardInput() : question
  if (text.trim() === '') throw new UsageError('The question is empty.')
  const task: Task = {
    id: text,
    question: text,
    metadata: {},
    options: choices && readOptions(choices),
    context,
  }
  return { task, isBare: choices === undefined && context === undefined }
}

/** The task of the set that asks exactly this, whole. Where several do, none is meant. */
function knownByQuestion(set: TaskSet | undefined, task: Task): { task: Task; split?: string } {
  const same = Object.entries(set?.splits ?? {}).flatMap(([split, { tasks }]) =>
    tasks
      .filter(({ question }) => question.trim() === task.question.trim())
      .map((one) => ({ task: one, split })),
  )
  return same.length === 1 ? same[0]! : { task }
}

/** Whether the simulated model can tell right from wrong here. */
function isKnown(set: TaskSet | undefined, task: Task): boolean {
  if (set === undefined) return false
  return new KnownTasks(knownTasks(set)).find(askedTask(taskView(task))) !== undefined
}

function showConstruction({
  policy,
  task,
  split,
  steps,
  graph,
  expanded,
}: {
  readonly policy: TrainedPolicy
  readonly task: Task
  readonly split: string | undefined
  readonly steps: readonly ExplainedStep[]
  readonly graph: AgentGraph
  readonly expanded: boolean
}): void {
  const { run, update, library } = policy
  const screen = screenOf(process.stderr)
  const trained = update === 0 ? 'untrained' : `after ${update} updates`
  const lines = [
    screen.paint('bold', `The policy of ${run.name}, ${trained}, builds`),
    ...(split === undefined ? [] : [`for question ${printable(task.id)} of the ${split} questions`]),
    '',
    ...steps.flatMap((step, index) => describeStep(step, index, graph, screen)),
    graphDrawing(graph, screen),
    '',
    ...(expanded ? [mermaid(expandedPicture(graph, executorLabel(library))).trimEnd(), ''] : []),
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
}

function showAnswer(execution: Execution, isSimulated: boolean, isGuess: boolean): void {
  const guess = 'The simulated model does not know this question: its answer is a guess.'
  const summary = executionSummary(execution, isSimulated)
  process.stderr.write(`\n${[...summary, ...(isGuess ? [guess] : [])].join('\n')}\n`)
  if (execution.answer !== undefined) process.stdout.write(`${answerText(execution.answer)}\n`)
}
