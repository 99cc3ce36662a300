import { Command, InvalidArgumentError } from 'commander'
import { simulatedModelName } from '../../simulator/model/simulator.ts'
import { faultKinds, parseFaultRates } from '../../simulator/server/faults.ts'
import { SimulatedServer } from '../../simulator/server/server.ts'
import { jsonOption } from '../options/common-options.ts'
import { readKnownTasks } from '../options/known-tasks-file.ts'
import { wholeNumber } from '../options/option-values.ts'
import { UsageError } from '../problem.ts'

interface SimulateOptions {
  readonly port: number
  readonly tasks?: string
  readonly latency: number
  readonly seed: number
  readonly fault?: readonly string[]
  readonly json: boolean
}

export function simulateCommand(): Command {
  return new Command('simulate')
    .description('Serve the simulated model on this machine, as an OpenAI-compatible endpoint without a key.')
    .option('--port <n>', 'port on 127.0.0.1; 0 takes any free one', portNumber, 0)
    .option('--tasks <file>', 'tasks whose answers it knows (JSONL); it guesses at all others')
    .option('--latency <ms>', 'time that an answer of typical length takes', wholeNumber(0), 0)
    .option('--seed <n>', 'seed of answers and faults', wholeNumber(0), 0)
    .option('--fault <kind=rate...>', 'share of the requests that fail, and how; see below')
    .addOption(jsonOption('address and settings as one JSON object'))
    .addHelpText(
      'after',
      `
Faults:
${Object.entries(faultKinds)
  .map(([kind, what]) => `  ${kind.padEnd(12)} ${what}`)
  .join('\n')}

Examples:
  magic simulate --tasks questions.jsonl
  magic simulate --port 8099 --latency 300 --seed 7
  magic simulate --fault 429=0.1 hang=0.01

Everything that it says is simulated: answers, token counts and times. Same request, same answer.
docs/simulated-model.md tells how it answers and what the tasks file looks like.`,
    )
    .action(async (options: SimulateOptions) => {
      const server = await start(options)
      const stopped = nextSignal()
      process.stdout.write(
        options.json ? `${JSON.stringify(described(server, options))}\n` : shown(server, options),
      )
      await stopped
      await server.close()
      if (!options.json) process.stdout.write(`Stopped after ${server.requests} requests.\n`)
    })
}

async function start({
  port,
  tasks: file,
  latency,
  seed,
  fault = [],
}: SimulateOptions): Promise<SimulatedServer> {
  const faults = parseFaultRates(fault)
  const tasks = file === undefined ? [] : await readKnownTasks(file)
  try {
    return await SimulatedServer.start({ port, tasks, latencyMs: latency, seed, faults })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new UsageError(`Port ${port} is taken. Choose another with --port, or 0 for any free one.`)
    if (code === 'EACCES') throw new UsageError(`Port ${port} is not yours to open. Choose one above 1023.`)
    throw error
  }
}

/** Resolves at the first Ctrl-C or termination signal. A second one then ends the process as it usually does. */
function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      process.off('SIGINT', stop)
      process.off('SIGTERM', stop)
      resolve()
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}

function described(server: SimulatedServer, { latency, seed, fault = [] }: SimulateOptions) {
  return {
    simulated: true,
    baseURL: server.url,
    model: simulatedModelName,
    tasks: server.simulator.tasks.size,
    seed,
    latencyMs: latency,
    faults: parseFaultRates(fault),
  }
}

function shown(server: SimulatedServer, { latency, seed, fault = [] }: SimulateOptions): string {
  const { size } = server.simulator.tasks
  const knows = size === 0 ? 'knows no tasks: every answer is a guess' : `knows ${size} tasks`
  const faults = fault.length === 0 ? 'no faults' : `faults ${fault.join(' ')}`
  return `Simulated model at ${server.url}
  ${knows} · seed ${seed} · latency ${latency} ms · ${faults}
  Its answers, token counts and times are simulated.

Use it as any OpenAI-compatible endpoint, without a key:
  magic run --model vllm --model-name ${simulatedModelName} --base-url ${server.url} ...
  curl ${server.url}/models

Ctrl-C stops it.
`
}

function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('It must be a port from 0 to 65535.')
  return Number(text)
}
