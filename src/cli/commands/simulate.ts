import { once } from 'node:events'
import type { Command } from 'commander'
import { simulatedModelName } from '../../simulator/model/simulated-name.ts'
import { faultKinds, parseFaultRates } from '../../simulator/server/faults.ts'
import { SimulatedServer } from '../../simulator/server/server.ts'
import { commandLines } from '../display/command-lines.ts'
import { factLines } from '../display/screen.ts'
import { NotedCommand } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import { jsonOption } from '../options/common-options.ts'
import { readKnownTasks } from '../options/known-tasks-file.ts'
import { wholeNumber } from '../options/option-values.ts'
import { printResult } from '../print.ts'
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
  return new NotedCommand('simulate')
    .description('Serve the simulated model as an OpenAI-compatible endpoint on this machine, without a key.')
    .option('--port <n>', 'port on 127.0.0.1; 0 picks a free one', wholeNumber(0, 65_535), 0)
    .option('--tasks <file>', 'tasks whose answers it knows (JSONL, CSV); it guesses all others')
    .option('--latency <ms>', 'how long a typical answer takes', wholeNumber(0), 0)
    .option('--seed <n>', 'seed of answers and faults', wholeNumber(0), 0)
    .option('--fault <kind=rate...>', 'how requests fail, and how often; see below')
    .addOption(jsonOption('address and settings as one JSON object'))
    .notes({
      values: ['Faults:', Object.entries(faultKinds)],
      examples: [
        ['magic simulate --tasks questions.jsonl'],
        ['magic simulate --port 8099 --latency 300 --seed 7'],
        ['magic simulate --fault 429=0.1 hang=0.01', '10 % fail with 429, 1 % hang'],
      ],
      notes: [
        'Answers, token counts and times are all simulated. The same request always gets the same answer. docs/simulated-model.md explains its rules and the tasks file.',
      ],
    })
    .action(simulate)
}

async function simulate(options: SimulateOptions): Promise<void> {
  const { port, tasks: file, latency, seed, fault = [], json } = options
  const faults = parseFaultRates(fault)
  const tasks = file === undefined ? [] : await readKnownTasks(file)
  const server = await SimulatedServer.start({ port, tasks, latencyMs: latency, seed, faults }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        throw new UsageError(`Port ${port} is in use. Choose another with --port, or 0 for any free one.`)
      if (error.code === 'EACCES')
        throw new UsageError(`You may not open port ${port}. Choose one above 1023.`)
      throw error
    },
  )
  const { url, simulator } = server
  const known = simulator.tasks.size
  const about = { simulated: true, baseURL: url, model: simulatedModelName, tasks: known, seed }
  const signal = interruptSignal(() => {})
  const stopped = once(signal, 'abort')
  if (json) process.stdout.write(`${JSON.stringify({ ...about, latencyMs: latency, faults })}\n`)
  else
    printResult({ json }, about, (screen) => [
      `Simulated model at ${url}`,
      factLines(
        [
          ['tasks', known === 0 ? 'none known, so every answer is a guess' : `knows the answers of ${known}`],
          ['seed', String(seed)],
          ['latency', `${latency} ms`],
          ['faults', fault.length === 0 ? 'none' : fault.join(' ')],
        ],
        screen,
        '  ',
      ),
      '',
      'Its answers, token counts and times are simulated. Use it like any OpenAI-compatible endpoint, without a key:',
      commandLines(
        [
          [`magic run --model vllm --model-name ${simulatedModelName} --base-url ${url} …`],
          [`curl ${url}/models`],
        ],
        screen,
      ),
      '',
      'Ctrl-C stops it.',
    ])
  await stopped
  await server.close()
  if (!json) process.stdout.write(`Stopped after ${server.requests} requests.\n`)
}
