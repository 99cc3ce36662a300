import type { Command } from 'commander'
import { solve } from '../../evaluation/solve.ts'
import { graphKey } from '../../graph/graph-key.ts'
import { type ContractKind, contractKinds } from '../../library/answer-contract.ts'
import type { Task } from '../../library/task.ts'
import { CallLimit } from '../../models/call-limit.ts'
import type { ExplainedStep } from '../../policy/explained-steps.ts'
import { shownText } from '../display/screen.ts'
import { exitCodeNote, NotedCommand } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import type { JobOptions } from '../job.ts'
import { openPolicy } from '../open-policy.ts'
import { usableRun } from '../open-run.ts'
import {
  checkpointOption,
  concurrencyOption,
  contractOption,
  drawSeedOption,
  jsonOption,
  runsDirOption,
} from '../options/common-options.ts'
import { readOptions, readQuestion } from '../options/given-question.ts'
import { readTaskFile } from '../options/input-file.ts'
import { addModelOptions } from '../options/model-options.ts'
import { printAside, printJson } from '../print.ts'
import { UsageError } from '../problem.ts'
import { startTelemetry } from '../telemetry.ts'
import { constructionLines } from '../views/construction-view.ts'
import { executionCode, printExecution } from '../views/execution-summary.ts'
import { liveNodes } from '../views/live-nodes.ts'

interface AskOptions extends JobOptions {
  readonly config?: string
  readonly options?: readonly string[]
  readonly task?: string
  readonly context?: readonly string[]
  readonly contract?: ContractKind
  readonly seed?: number
  readonly update?: number
  readonly json: boolean
}

export function askCommand(): Command {
  const command = new NotedCommand('ask')
    .description("Ask a run's policy a question: it builds an agent graph, runs it and answers.")
    .argument('<run>', 'name or folder of a run, or an export of one')
    .argument('[question]', 'the question, or - to read it from standard input')
    .option('--options <texts...>', 'options to choose from, such as "A) Paris" "B) Rome"')
    .option('--context <texts...>', 'passages the question refers to')
    .option('--config <file>', "configuration with your own tools, if the run's is not here")
    .option('--task <file>', 'the whole task as a JSON file, as for `magic run`')
    .addOption(contractOption())
    .addOption(drawSeedOption())
    .addOption(checkpointOption())
    .addOption(concurrencyOption("the run's"))
    .addOption(runsDirOption())
    .addOption(jsonOption())
  return addModelOptions(command, 'of run')
    .notes({
      examples: [
        ['magic ask first "A shop sells 3 pens for 2 euros. What do 12 pens cost, in euros?"'],
        ['magic ask first "Which is a prime number?" --options "A) 21" "B) 23" "C) 27"'],
        ['magic ask first --task task.json --json | jq .answer'],
        ['echo "What is 17 times 23?" | magic ask first -'],
      ],
      notes: [
        'The answer goes to standard output, everything else to standard error. The same question and seed give the same graph.',
        "Without --contract, the answer has the form of the run's tasks. If those have several forms, as the synthetic ones do, a question with options gets one of them, a program gets code, and anything else gets a number.",
        "A question that is in the run's tasks word for word comes with their options and tables. The simulated model knows only those answers; otherwise it guesses, and this command says so.",
        'The run folder or an export is enough, even if the questions are gone. Only the code of your own tools is not in there: give --config.',
        exitCodeNote,
      ],
    })
    .action(ask)
}

async function ask(name: string, question: string | undefined, options: AskOptions): Promise<void> {
  const { seed, json } = options
  const folder = await usableRun(name, options.runsDir)
  const given = await readTask(question, options)
  const view = liveNodes()
  const say = (text: string) => view.notice(shownText(text))
  const signal = interruptSignal(say)
  await using closing = new AsyncDisposableStack()
  closing.defer(await startTelemetry())
  const { run, job, policy, questions, tools } = await openPolicy(folder, options, closing, say)
  const { isSimulated } = job
  const { task, split } = questions.taskFor(given)
  const contract = options.contract ? contractKinds[options.contract] : questions.contractFor(task)
  const about = policy.update === 0 ? 'untrained' : `after ${policy.update} updates`
  let steps: readonly ExplainedStep[] = []
  const execution = await solve({
    policy,
    task,
    contract,
    seed,
    model: job.model,
    models: job.models,
    tools,
    limit: new CallLimit(job.concurrency),
    signal,
    onConstruction: (construction) => {
      steps = construction.explain()
      if (json) return
      printAside((screen) => [
        screen.paint('bold', `The policy of ${run.name}, ${about}, builds:`),
        split && `for ${split} question ${shownText(task.id)}`,
        '',
        constructionLines(steps, construction.graph, screen),
        '',
      ])
    },
    onEvent: json ? () => {} : view.listen,
  })
  const { graph, status, answer, usage, cost, durationMs, failures } = execution
  const guess = isSimulated && !questions.knowsAnswer(task)
  if (json)
    printJson({
      ...{ run: run.name, update: policy.update, seed: seed ?? run.training.seed },
      ...{ task, split: split ?? null, contract: contract.name },
      ...{ graph, key: graphKey(graph), steps },
      ...{ status, answer: answer ?? null, simulated: isSimulated, guess },
      ...{ usage, cost, durationMs },
      failures: failures.map(({ executor, status, reason }) => ({ executor, status, reason })),
    })
  else
    printExecution(
      execution,
      isSimulated,
      guess && 'The simulated model does not know this question, so its answer is a guess.',
    )
  process.exitCode = executionCode(execution)
}

async function readTask(question: string | undefined, options: AskOptions): Promise<Task> {
  const { task: file, options: choices, context } = options
  if (file !== undefined) {
    if (question !== undefined || choices !== undefined || context !== undefined)
      throw new UsageError('--task gives the whole task. Leave out the question, --options and --context.')
    return readTaskFile(file)
  }
  if (question === undefined)
    throw new UsageError(
      'The question is missing. Put it right after the run, before --options and --context.',
    )
  const text = await readQuestion(question)
  return { id: text, question: text, metadata: {}, options: choices && readOptions(choices), context }
}
