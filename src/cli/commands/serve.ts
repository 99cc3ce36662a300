import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { AskedQuestions } from '../../evaluation/asked-questions.ts'
import { loadPolicy } from '../../evaluation/trained-policy.ts'
import { openToolbox } from '../../execution/toolbox.ts'
import { CallLimit } from '../../models/call-limit.ts'
import { priceOf } from '../../models/prices.ts'
import { readKeyFile } from '../../models/secret.ts'
import type { Offered } from '../../serve/complete.ts'
import { assertGuarded } from '../../serve/guard.ts'
import { serve } from '../../serve/serve.ts'
import { Spending } from '../../serve/spending.ts'
import { executionSettings } from '../../settings/execution.ts'
import { isArchivedExport } from '../../store/exported-run.ts'
import { givenAddress } from '../../store/postgres/address.ts'
import { Database } from '../../store/postgres/database.ts'
import type { RunFolder } from '../../store/run-folder.ts'
import { RunLock, RunLockedError } from '../../store/run-lock.ts'
import { workOverview } from '../../workers/overview.ts'
import { exitCodeHelp } from '../exit-code.ts'
import { interruptSignal } from '../interrupt.ts'
import { type JobOptions, reopenToAsk } from '../job.ts'
import { encoderOfRun, usableRun } from '../open-run.ts'
import { jsonOption, runsDirOption } from '../options/common-options.ts'
import { addModelOptions } from '../options/model-options.ts'
import { positiveNumber, wholeNumber } from '../options/option-values.ts'
import { UsageError } from '../problem.ts'
import { startTelemetry } from '../telemetry.ts'

interface ServeCommandOptions extends JobOptions {
  readonly config?: string
  readonly host: string
  readonly port: number
  readonly allowHost: readonly string[]
  readonly tokenEnv?: string
  readonly tokenFile?: string
  readonly concurrency: number
  readonly maxRequests: number
  readonly maxQueue: number
  readonly rate: number
  readonly rateAll: number
  readonly maxBody: number
  readonly timeout: number
  readonly maxRequestTokens?: number
  readonly maxRequestCost?: number
  readonly maxDayTokens?: number
  readonly maxDayCost?: number
  readonly stateDir?: string
  readonly grace: number
  readonly logPrompts: boolean
  readonly json: boolean
}

export function serveCommand(): Command {
  const command = new Command('serve')
    .description("Serve runs' policies as models of an OpenAI-compatible API, one model per run.")
    .argument('<runs...>', 'names or folders of the runs, or exports of them')
    .option('--host <address>', 'address to listen on; any but loopback needs a token', '127.0.0.1')
    .option('--port <n>', 'port; 0 takes any free one', wholeNumber(0, 65_535), 8321)
    .option('--allow-host <names...>', 'further names that clients reach this server by', [])
    .option('--config <file>', "a configuration with your own tools, where the run's is not at hand")
    .option('--token-env <variable>', 'name of the variable that holds the bearer token')
    .option('--token-file <file>', 'file of mode 600 that holds the bearer token')
    .addOption(
      new Option('--concurrency <n>', 'model calls in flight at once, per run')
        .argParser(wholeNumber(1, 10_000))
        .default(64),
    )
    .option('--max-requests <n>', 'requests that are answered at once', wholeNumber(1), 64)
    .option('--max-queue <n>', 'requests that may wait; more get 429', wholeNumber(0), 256)
    .option('--rate <n>', 'requests per minute from one address', wholeNumber(1), 6000)
    .option('--rate-all <n>', 'requests per minute from all together', wholeNumber(1), 30_000)
    .option('--max-body <kib>', 'largest request body, in KiB', wholeNumber(1), 1024)
    .option('--timeout <s>', 'seconds for one answer, without the time in the queue', positiveNumber, 600)
    .option('--max-request-tokens <n>', 'tokens that one request may use', wholeNumber(0))
    .option('--max-request-cost <amount>', "money that it may cost, in the price's currency", positiveNumber)
    .option('--max-day-tokens <n>', 'tokens that a run may use per day (UTC)', wholeNumber(0))
    .option('--max-day-cost <amount>', 'money that it may cost per day', positiveNumber)
    .option('--state-dir <folder>', "where a day's spending is kept, instead of each run's folder")
    .option('--grace <s>', 'seconds to finish what runs after Ctrl-C or SIGTERM', wholeNumber(0), 30)
    .option('--log-prompts', 'put questions and answers into the log', false)
    .addOption(runsDirOption())
    .addOption(jsonOption('address and models as one JSON object'))
  return addModelOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  magic serve first
  magic serve first second --port 8080 --max-day-cost 5
  magic serve first.tgz --max-day-cost 5 --state-dir state
  MAGIC_TOKEN=$(openssl rand -hex 32) magic serve first --host 0.0.0.0 --token-env MAGIC_TOKEN

  curl http://127.0.0.1:8321/v1/chat/completions -H 'content-type: application/json' \\
    -d '{"model": "first", "messages": [{"role": "user", "content": "What is 6 times 7?"}]}'

Any OpenAI client works with the base URL http://127.0.0.1:8321/v1. Contract, options, tables and seed go into the
field \`magic\` of a request; graph, cost and trace id come back in the same field. docs/serve.md tells all of it.
The address goes to standard output, the log as JSON lines to standard error. /healthz and /readyz are for whoever
watches over it, /metrics is for Prometheus. The first Ctrl-C or SIGTERM finishes what runs, the second quits.
${exitCodeHelp}`,
    )
    .action(serveRuns)
}

async function serveRuns(names: readonly string[], options: ServeCommandOptions): Promise<void> {
  const { host, port, allowHost: hosts, json, grace } = options
  const token = readToken(options)
  assertGuarded(host, token)
  const log = (entry: object) =>
    process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`)
  const say = (text: string) => log({ event: 'note', text })
  const signal = interruptSignal(say)
  const stopped = once(signal, 'abort')
  await using closing = new AsyncDisposableStack()
  closing.defer(await startTelemetry())
  const policies: Offered[] = []
  for (const name of names) {
    assertDayCanBeKept(name, options)
    policies.push(await offer(await usableRun(name, options.runsDir), options, closing, say))
  }
  const ids = policies.map(({ id }) => id)
  const twice = ids.find((id, place) => ids.indexOf(id) !== place)
  if (twice !== undefined) throw new UsageError(`Two of the runs are called ${twice}. Serve one of them.`)
  const limits = {
    ...{ bodyBytes: options.maxBody * 1024, rate: options.rate, rateOfAll: options.rateAll },
    ...{ running: options.maxRequests, waiting: options.maxQueue },
  }
  const address = givenAddress()
  const database =
    address && closing.adopt(await Database.open(address, { patienceMs: 2000 }), (one) => one.close())
  const server = await serve({
    work: database && (() => workOverview(database)),
    ...{ policies, host, port, hosts, token, limits, log, logPrompts: options.logPrompts },
  })
  const baseURL = `${server.url}/v1`
  const models = policies.map(({ id, isSimulated: simulated, policy }) => ({
    id,
    update: policy.update,
    simulated,
  }))
  process.stdout.write(
    json
      ? `${JSON.stringify({ baseURL, models })}\n`
      : `Serving at ${baseURL}
${models.map(({ id, update, simulated }) => `  ${id}  after ${update} updates${simulated ? ', answers are simulated' : ''}\n`).join('')}
Ctrl-C finishes what runs and stops.
`,
  )
  await stopped
  await server.close(grace * 1000)
  log({ event: 'stopped' })
}

/** A .tgz is unpacked for this process only: the next one would not know what the day has cost. */
function assertDayCanBeKept(name: string, { maxDayCost, maxDayTokens, stateDir }: ServeCommandOptions): void {
  if (!isArchivedExport(name) || stateDir !== undefined || (maxDayCost ?? maxDayTokens) === undefined) return
  throw new UsageError(
    `${name} has no folder to keep the day's spending in. Name one with --state-dir, or unpack it and serve its folder.`,
  )
}

/** Opens what `magic ask` opens for a run, once for all its questions. */
async function offer(
  folder: RunFolder,
  options: ServeCommandOptions,
  closing: AsyncDisposableStack,
  say: (text: string) => void,
): Promise<Offered> {
  const run = folder.readRecord()
  const job = closing.adopt(await reopenToAsk(run, options, say), (one) => one.close())
  const policy = await loadPolicy(folder, { encoder: await encoderOfRun(run, say) })
  const recorded = executionSettings.parse(run.execution)
  const executionSeconds = Math.min(options.timeout, recorded.executionSeconds ?? options.timeout)
  return {
    ...{ id: run.name, policy, model: job.model, isSimulated: job.isSimulated },
    questions: new AskedQuestions(folder, run, job.set),
    tools: openToolbox(job.sandbox, job.tools),
    limit: new CallLimit(options.concurrency),
    // Nobody reads the trace.
    settings: { ...recorded, executionSeconds, traceContent: false },
    spending: await openSpending(folder, job, recorded, options, closing),
  }
}

async function openSpending(
  folder: RunFolder,
  { model, isSimulated }: Pick<Offered, 'model' | 'isSimulated'>,
  { prices }: Pick<NonNullable<Offered['settings']>, 'prices'>,
  options: ServeCommandOptions,
  closing: AsyncDisposableStack,
): Promise<Spending> {
  const { maxRequestCost, maxRequestTokens, maxDayCost, maxDayTokens, stateDir } = options
  const price = priceOf(model.identity, prices)
  const { provider, model: name } = model.identity
  if ((maxRequestCost ?? maxDayCost) !== undefined && price === undefined && !isSimulated)
    throw new UsageError(
      `${provider}/${name} has no price, so a cap on money cannot hold. Give its price in the run's configuration, or cap tokens.`,
    )
  const caps = {
    request: { cost: maxRequestCost, tokens: maxRequestTokens },
    day: { cost: maxDayCost, tokens: maxDayTokens },
  }
  if (maxDayCost === undefined && maxDayTokens === undefined) return new Spending(caps, price)
  const state = stateDir === undefined ? join(folder.path, 'serve') : join(stateDir, folder.readRecord().name)
  mkdirSync(state, { recursive: true })
  closing.adopt(await lock(state), (one) => one.release())
  return new Spending(caps, price, join(state, 'day.json'))
}

/** Two servers that count in one file would each forget what the other spends. */
async function lock(state: string): Promise<RunLock> {
  return await RunLock.acquire(state).catch((error: unknown) => {
    if (!(error instanceof RunLockedError)) throw error
    const who = error.holder === undefined ? 'Another server' : `Another server (process ${error.holder.pid})`
    throw new UsageError(`${who} counts its spending in ${state}. End it, or give this one a --state-dir.`)
  })
}

function readToken({ tokenEnv, tokenFile }: ServeCommandOptions): string | undefined {
  if (tokenEnv === undefined && tokenFile === undefined) return undefined
  if (tokenEnv !== undefined && tokenFile !== undefined)
    throw new UsageError('Use either --token-env or --token-file, not both.')
  const token = tokenEnv === undefined ? readTokenFile(tokenFile!) : (process.env[tokenEnv] ?? '')
  if (/^[\x21-\x7e]{16,}$/.test(token)) return token
  throw new UsageError(
    `The token in ${tokenEnv ?? tokenFile} must have 16 or more characters without blanks. Make one with: openssl rand -hex 32`,
  )
}

function readTokenFile(path: string): string {
  try {
    return readKeyFile(path)
  } catch (error) {
    throw new UsageError(`The token cannot be read. ${(error as Error).message}`, { cause: error })
  }
}
