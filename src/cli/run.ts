import { Command, Option } from 'commander'
import { executeGraph } from '../execution/execute-graph.ts'
import type { Execution } from '../execution/execution.ts'
import { CallLimit } from '../execution/models/call-limit.ts'
import type { Cost } from '../execution/models/prices.ts'
import { simulatedModelName } from '../execution/models/simulated/simulator.ts'
import { openProgramSandbox, type ProgramSandbox } from '../execution/sandbox/program-sandbox.ts'
import { SandboxUnavailable } from '../execution/sandbox/unavailable.ts'
import { executionSettings } from '../execution/settings.ts'
import { openToolbox } from '../execution/toolbox.ts'
import { AgentGraph } from '../graph/agent-graph.ts'
import { visibleText } from '../graph/render/picture.ts'
import { drawGraph } from '../graph/render/terminal.ts'
import {
  type AnswerContract,
  benchmarkContracts,
  booleanString,
  codeString,
  freeText,
  numericString,
  optionLabel,
  valuesAndScale,
} from '../library/answer-contract.ts'
import { paperLibrary } from '../library/paper-library/paper-library.ts'
import { benchmarkProfiles, type DatasetProfile } from '../library/profiles.ts'
import { builtInTools } from '../library/tool-name.ts'
import { loadLibrary } from '../library/yaml-library.ts'
import { exitCode } from './exit-code.ts'
import { readGraphFile, readTaskFile } from './input-file.ts'
import { interruptSignal } from './interrupt.ts'
import { LiveNodes } from './live-nodes.ts'
import { addModelOptions, type ModelOptions, openChosenModel } from './model-options.ts'
import { positiveNumber, wholeNumber } from './option-values.ts'
import { startTelemetry } from './telemetry.ts'

const contracts: Readonly<Record<string, AnswerContract>> = {
  text: freeText,
  option: optionLabel,
  boolean: booleanString,
  number: numericString,
  code: codeString,
  values: valuesAndScale,
}

interface RunOptions extends ModelOptions {
  readonly graph?: string
  readonly task: string
  readonly contract?: string
  readonly profile?: keyof typeof benchmarkProfiles
  readonly library?: string
  readonly concurrency: number
  readonly timeout?: number
  readonly content: boolean
  readonly json: boolean
}

export function runCommand(): Command {
  const command = new Command('run')
    .description('Run one graph on one task and show the nodes as they work.')
    .option('--graph <file>', 'the graph (JSON); without it the model answers directly')
    .requiredOption('--task <file>', 'the public part of the task (JSON)')
    .addOption(
      new Option('--contract <kind>', 'what the answer must look like').choices(Object.keys(contracts)),
    )
    .addOption(
      new Option('--profile <name>', 'tools and contract of one benchmark').choices(
        Object.keys(benchmarkProfiles),
      ),
    )
    .option('--library <file>', 'a role library of your own (YAML)')
    .option('--concurrency <n>', 'model calls in flight at most', wholeNumber(1), 8)
    .option('--timeout <seconds>', 'limit on the whole execution', positiveNumber)
    .option('--no-content', 'leave requests and replies out of the trace')
    .option('--json', 'print the whole trace as one JSON object', false)
  return addModelOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  magic run --graph graph.json --task task.json
  magic run --graph graph.json --task task.json --profile gsm8k --model deepseek
  magic run --task task.json --model ollama --model-name qwen3 --json > trace.json

A graph is { "units": [{ "role": "independent_solver", "realization": "atomic", "predecessors": [] }] };
\`magic graph --json\` makes one. A task is { "question": "…" } with options, context, tables, program,
publicTests and metadata where it has them. The answer goes to standard output, the rest to standard error.`,
    )
    .action(async (options: RunOptions) => {
      process.exitCode = await run(options)
    })
}

async function run(options: RunOptions): Promise<number> {
  const graph = options.graph === undefined ? AgentGraph.empty : readGraphFile(options.graph)
  const task = readTaskFile(options.task)
  const library = options.library === undefined ? paperLibrary : loadLibrary(options.library)
  // A role that the library lacks is found before anything is started.
  for (const { role } of graph.units) library.space.indexOf(role)
  const signal = interruptSignal()
  const endTelemetry = await startTelemetry()
  const { model, close } = await openChosenModel(options)
  const sandbox = await findSandbox()
  try {
    if (!options.json)
      process.stderr.write(`${drawGraph(graph, { columns: process.stderr.columns ?? 100 })}\n`)
    const execution = await executeGraph({
      graph,
      task,
      library,
      profile: chooseProfile(options),
      contract: chooseContract(options),
      model,
      tools: openToolbox(sandbox),
      settings: executionSettings.parse({ traceContent: options.content, executionSeconds: options.timeout }),
      signal,
      limit: new CallLimit(options.concurrency),
      onEvent: options.json ? () => {} : new LiveNodes().listen,
    })
    report(execution, options)
    return codeOf(execution)
  } finally {
    await close()
    await endTelemetry()
  }
}

function report(
  { status, answer, stop, trace, usage, cost, failures, durationMs }: Execution,
  options: RunOptions,
): void {
  if (options.json) {
    process.stdout.write(`${JSON.stringify(trace, null, 2)}\n`)
    return
  }
  const say = (text: string) => process.stderr.write(`${text}\n`)
  say('')
  if (stop !== undefined) say(`stopped: ${visibleText(stop.message)}`)
  for (const { executor, status: problem, reason } of failures)
    say(`${executor}: ${problem}${reason === undefined ? '' : ` (${visibleText(reason)})`}`)
  const tokens = `${usage.input} + ${usage.output} tokens`
  say(
    `${status} in ${(durationMs / 1000).toFixed(1)} s, ${usage.calls} calls, ${tokens}, ${costText(cost, options)}`,
  )
  if (options.model === simulatedModelName && options.replay === undefined)
    say('The answer is simulated: no language model was asked.')
  if (answer !== undefined)
    process.stdout.write(`${typeof answer === 'string' ? printable(answer) : JSON.stringify(answer)}\n`)
}

/** An answer may have lines, code above all; any other control character could drive the terminal. */
function printable(text: string): string {
  return text.split('\n').map(visibleText).join('\n')
}

function costText(cost: Cost, { model }: RunOptions): string {
  if (cost === 'unpriced')
    return model === simulatedModelName ? 'free' : 'unpriced: the price table does not have this model'
  return `${cost.amount.toFixed(6)} ${cost.currency}`
}

function codeOf({ status }: Execution): number {
  if (status === 'answered') return exitCode.done
  if (status === 'stopped') return exitCode.refused
  return status === 'aborted' ? exitCode.interrupted : exitCode.failed
}

function chooseContract({ contract, profile }: RunOptions): AnswerContract {
  if (contract !== undefined) return contracts[contract]!
  return profile === undefined ? freeText : benchmarkContracts[profile]
}

/** Without a profile every tool is on: permissions still hold. */
function chooseProfile({ profile }: RunOptions): Pick<DatasetProfile, 'id' | 'tools'> {
  return profile === undefined ? { id: 'any', tools: builtInTools } : benchmarkProfiles[profile]
}

async function findSandbox(): Promise<ProgramSandbox | undefined> {
  try {
    return await openProgramSandbox()
  } catch (error) {
    if (!(error instanceof SandboxUnavailable)) throw error
    process.stderr.write(`Tools that run programs are off: ${error.message}\n`)
    return undefined
  }
}
