import type { Command } from 'commander'
import { executeGraph } from '../../execution/execute-graph.ts'
import { openToolbox } from '../../execution/toolbox.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { type ContractKind, contractKinds, freeText } from '../../library/answer-contract.ts'
import { paperLibrary } from '../../library/paper-library/paper-library.ts'
import { builtInTools } from '../../library/tool-name.ts'
import { loadLibrary } from '../../library/yaml-library.ts'
import { CallLimit } from '../../models/call-limit.ts'
import { SandboxUnavailable } from '../../sandbox/unavailable.ts'
import { defaultConcurrency, executionSettings } from '../../settings/execution.ts'
import { unknownQuestion } from '../../simulator/model/respond.ts'
import { isSimulatedModel } from '../../simulator/model/simulated-name.ts'
import { machineSandbox } from '../../store/run-tools.ts'
import { benchmarkContracts, benchmarkProfiles } from '../../tasks/benchmarks/list.ts'
import { graphLines } from '../display/screen.ts'
import { NotedCommand } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import {
  concurrencyOption,
  contractOption,
  jsonOption,
  libraryOption,
  profileOption,
} from '../options/common-options.ts'
import { readGraphFile, readTaskFile } from '../options/input-file.ts'
import { addModelOptions, type ModelOptions, openChosenModel } from '../options/model-options.ts'
import { positiveNumber } from '../options/option-values.ts'
import { printAside, printJson } from '../print.ts'
import { startTelemetry } from '../telemetry.ts'
import { executionCode, printExecution } from '../views/execution-summary.ts'
import { liveNodes } from '../views/live-nodes.ts'

interface RunOptions extends ModelOptions {
  readonly graph?: string
  readonly task: string
  readonly contract?: ContractKind
  readonly profile?: keyof typeof benchmarkProfiles
  readonly library?: string
  readonly concurrency?: number
  readonly timeout?: number
  readonly content: boolean
  readonly json: boolean
}

export function runCommand(): Command {
  const command = new NotedCommand('run')
    .description('Run one graph on one task and show its agents at work.')
    .option('--graph <file>', 'the graph (JSON); without it, the model answers directly')
    .requiredOption('--task <file>', 'the task, without its answer (JSON)')
    .addOption(contractOption())
    .addOption(profileOption("use a benchmark's tools and form of answers"))
    .addOption(libraryOption())
    .addOption(concurrencyOption())
    .option('--timeout <seconds>', 'time limit for the whole graph', positiveNumber)
    .option('--no-content', 'leave requests and replies out of the trace')
    .addOption(jsonOption('the whole trace as one JSON object'))
  return addModelOptions(command)
    .notes({
      examples: [
        ['magic run --graph graph.json --task task.json'],
        ['magic run --graph graph.json --task task.json --profile gsm8k --model deepseek'],
        ['magic run --task task.json --model ollama --model-name qwen3 --json > trace.json'],
      ],
      notes: [
        'A graph is { "units": [{ "role": "independent_solver", "realization": "atomic", "predecessors": [] }] }; `magic graph --json` makes one. A task is { "question": "…" }, with options, context, tables, program, publicTests and metadata if it has them.',
        'The answer goes to standard output, everything else to standard error.',
      ],
    })
    .action(run)
}

async function run(options: RunOptions): Promise<void> {
  const { profile, json } = options
  const library = options.library === undefined ? paperLibrary : loadLibrary(options.library)
  const graph = options.graph === undefined ? AgentGraph.empty : await readGraphFile(options.graph, library)
  const task = await readTaskFile(options.task)
  const view = liveNodes()
  const signal = interruptSignal((text) => view.notice(text))
  await using closing = new AsyncDisposableStack()
  closing.defer(await startTelemetry())
  const { model } = closing.use(await openChosenModel(options))
  const sandbox = await machineSandbox()
  if (sandbox instanceof SandboxUnavailable)
    view.notice(`Tools that run programs are off: ${sandbox.message}`)
  if (!json) printAside((screen) => [graphLines(graph, screen), ''])
  const usual = profile === undefined ? freeText : benchmarkContracts[profile]
  const execution = await executeGraph({
    graph,
    task,
    library,
    // Without a profile, every tool is on for the roles that may use it.
    profile: profile === undefined ? { id: 'any', tools: builtInTools } : benchmarkProfiles[profile],
    contract: options.contract ? contractKinds[options.contract] : usual,
    model,
    tools: openToolbox(sandbox),
    settings: executionSettings.parse({ traceContent: options.content, executionSeconds: options.timeout }),
    signal,
    limit: new CallLimit(options.concurrency ?? defaultConcurrency),
    onEvent: json ? () => {} : view.listen,
  })
  const { provider, model: served } = model.identity
  const isSimulated = isSimulatedModel(`${provider}/${served}`)
  const guess =
    isSimulated &&
    execution.packets.some(({ analysis }) => analysis?.includes(unknownQuestion)) &&
    'The simulated model does not know this question, so its answer is a guess.'
  if (json) {
    printJson(execution.trace)
    printAside(() => guess)
  } else printExecution(execution, isSimulated, guess)
  process.exitCode = executionCode(execution)
}
