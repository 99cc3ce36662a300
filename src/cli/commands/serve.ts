import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { CallLimit } from '../../models/call-limit.ts'
import { runPriceOf, unpricedOf } from '../../models/prices.ts'
import { readKeyFile } from '../../models/secret.ts'
import type { Offered } from '../../serve/complete.ts'
import { assertGuarded } from '../../serve/guard.ts'
import { serve } from '../../serve/serve.ts'
import { Spending } from '../../serve/spending.ts'
import { executionSettings } from '../../settings/execution.ts'
import { isArchivedExport } from '../../store/exported-run.ts'
import { givenAddress } from '../../store/postgres/address.ts'
import type { RunFolder } from '../../store/run-folder.ts'
import { RunLock, RunLockedError } from '../../store/run-lock.ts'
import { WorkWatch } from '../../workers/overview.ts'
import { exitCodeNote, NotedCommand } from '../help-notes.ts'
import { interruptSignal } from '../interrupt.ts'
import type { JobOptions } from '../job.ts'
import { openPolicy } from '../open-policy.ts'
import { usableRun } from '../open-run.ts'
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
  const command = new NotedCommand('serve')
    .description('Serve policies over an OpenAI-compatible API, one model per run.')
    .argument('<runs...>', 'names or folders of runs, or exports')
    .option('--config <file>', "configuration with your own tools, if the run's is not here")
    .option('--log-prompts', 'log questions and answers', false)
    .addOption(runsDirOption())
    .addOption(jsonOption('address and models as one JSON object'))
    .optionsGroup('Access:')
    .option('--host <address>', 'address to listen on; anything but loopback needs a token', '127.0.0.1')
    .option('--port <n>', 'port; 0 picks a free one', wholeNumber(0, 65_535), 8321)
    .option('--allow-host <names...>', 'other host names that clients use for this server', [])
    .option('--token-env <variable>', 'environment variable that holds the bearer token')
    .option('--token-file <file>', 'file that holds the bearer token (mode 600)')
    .optionsGroup('Limits:')
    .addOption(
      new Option('--concurrency <n>', 'concurrent model calls per run')
        .argParser(wholeNumber(1, 10_000))
        .default(64),
    )
    .option('--max-requests <n>', 'requests answered at the same time', wholeNumber(1), 64)
    .option('--max-queue <n>', 'requests that may wait; further ones get 429', wholeNumber(0), 256)
    .option('--rate <n>', 'requests per minute from one address', wholeNumber(1), 6000)
    .option('--rate-all <n>', 'requests per minute from all addresses', wholeNumber(1), 30_000)
    .option('--max-body <kib>', 'largest request body, in KiB', wholeNumber(1), 1024)
    .option('--timeout <s>', 'time limit per answer in seconds, not counting the queue', positiveNumber, 600)
    .option('--grace <s>', 'seconds to finish running requests after Ctrl-C or SIGTERM', wholeNumber(0), 30)
    .optionsGroup('Budget:')
    .option('--max-request-tokens <n>', 'token limit per request', wholeNumber(0))
    .option('--max-request-cost <amount>', "cost limit per request, in the price's currency", positiveNumber)
    .option('--max-day-tokens <n>', 'token limit per run and day (UTC)', wholeNumber(0))
    .option('--max-day-cost <amount>', 'cost limit per run and day (UTC)', positiveNumber)
    .option('--state-dir <folder>', "where to record the day's spending (default: each run's folder)")
  return addModelOptions(command, 'of run')
    .notes({
      examples: [
        ['magic serve first'],
        ['magic serve first second --port 8080 --max-day-cost 5'],
        ['magic serve first.tgz --max-day-cost 5 --state-dir state'],
        ['TOKEN=$(openssl rand -hex 32) magic serve first --host 0.0.0.0 --token-env TOKEN'],
        [
          `curl http://127.0.0.1:8321/v1/chat/completions \\
    -H 'content-type: application/json' \\
    -d '{"model": "first", "messages": [{"role": "user", "content": "6 times 7?"}]}'`,
        ],
      ],
      notes: [
        'Point any OpenAI client to http://127.0.0.1:8321/v1. Put contract, options, tables and seed into the field `magic` of a request; graph, cost and trace id come back in the same field. docs/serve.md has the details.',
        'The address goes to standard output, the log to standard error as JSON lines. /healthz and /readyz are for health checks, /metrics for Prometheus. The first Ctrl-C or SIGTERM finishes running requests, the second quits.',
        exitCodeNote,
      ],
    })
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
  if (twice !== undefined) throw new UsageError(`Two runs are called ${twice}. Serve only one of them.`)
  const limits = {
    ...{ bodyBytes: options.maxBody * 1024, rate: options.rate, rateOfAll: options.rateAll },
    ...{ running: options.maxRequests, waiting: options.maxQueue },
  }
  const address = givenAddress()
  const watch = address && closing.adopt(new WorkWatch(address), (one) => one.close())
  const server = await serve({
    work: watch && (() => watch.look()),
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
${models.map(({ id, update, simulated }) => `  ${id}  after ${update} updates${simulated ? ', simulated answers' : ''}\n`).join('')}
Ctrl-C finishes running requests, then stops.
`,
  )
  await stopped
  await server.close(grace * 1000)
  log({ event: 'stopped' })
}

/** A .tgz is unpacked for this process only, so the next process would not know what the day has cost. */
function assertDayCanBeKept(name: string, { maxDayCost, maxDayTokens, stateDir }: ServeCommandOptions): void {
  if (!isArchivedExport(name) || stateDir !== undefined || (maxDayCost ?? maxDayTokens) === undefined) return
  throw new UsageError(
    `A .tgz such as ${name} cannot record the day's spending. Choose a folder with --state-dir, or unpack it and serve the folder.`,
  )
}

/** Opens a run like `magic ask`, once for all questions. */
async function offer(
  folder: RunFolder,
  options: ServeCommandOptions,
  closing: AsyncDisposableStack,
  say: (text: string) => void,
): Promise<Offered> {
  const opened = await openPolicy(folder, { ...options, thread: true }, closing, say)
  const { run, job, policy, questions, tools } = opened
  const recorded = executionSettings.parse(run.execution)
  const executionSeconds = Math.min(options.timeout, recorded.executionSeconds ?? options.timeout)
  return {
    ...{ id: run.name, policy, model: job.model, models: job.models, isSimulated: job.isSimulated },
    questions,
    tools,
    limit: new CallLimit(options.concurrency),
    // Nobody reads the trace's texts.
    settings: { ...recorded, executionSeconds, traceContent: false },
    spending: await openSpending(folder, job, recorded, options, closing),
  }
}

async function openSpending(
  folder: RunFolder,
  { model, models, isSimulated }: Pick<Offered, 'model' | 'models' | 'isSimulated'>,
  { prices }: Pick<NonNullable<Offered['settings']>, 'prices'>,
  options: ServeCommandOptions,
  closing: AsyncDisposableStack,
): Promise<Spending> {
  const { maxRequestCost, maxRequestTokens, maxDayCost, maxDayTokens, stateDir } = options
  const priced = { model, models, settings: { prices } }
  const price = runPriceOf(priced)
  if ((maxRequestCost ?? maxDayCost) !== undefined && price === undefined && !isSimulated)
    throw new UsageError(
      `The price of ${unpricedOf(priced).join(', ')} is unknown, so its cost cannot be limited. Set the price in the run's configuration, or limit tokens.`,
    )
  const caps = {
    request: { cost: maxRequestCost, tokens: maxRequestTokens },
    day: { cost: maxDayCost, tokens: maxDayTokens },
  }
  if (maxDayCost === undefined && maxDayTokens === undefined) return new Spending(caps, price)
  const state = stateDir === undefined ? join(folder.path, 'serve') : join(stateDir, folder.readRecord().name)
  mkdirSync(state, { recursive: true })
  closing.use(await lock(state))
  return new Spending(caps, price, join(state, 'day.json'))
}

/** Two servers that share one file would overwrite each other's spending. */
async function lock(state: string): Promise<RunLock> {
  return await RunLock.acquire(state).catch((error: unknown) => {
    if (!(error instanceof RunLockedError)) throw error
    const who = error.holder === undefined ? 'Another server' : `Another server (process ${error.holder.pid})`
    throw new UsageError(
      `${who} already records its spending in ${state}. Stop it, or give this server its own --state-dir.`,
    )
  })
}

function readToken({ tokenEnv, tokenFile }: ServeCommandOptions): string | undefined {
  if (tokenEnv === undefined && tokenFile === undefined) return undefined
  if (tokenEnv !== undefined && tokenFile !== undefined)
    throw new UsageError('Use either --token-env or --token-file, not both.')
  const token = tokenEnv === undefined ? readTokenFile(tokenFile!) : (process.env[tokenEnv] ?? '')
  if (/^[\x21-\x7e]{16,}$/.test(token)) return token
  throw new UsageError(
    `The token in ${tokenEnv ?? tokenFile} needs at least 16 characters and no spaces. Make one with: openssl rand -hex 32`,
  )
}

function readTokenFile(path: string): string {
  try {
    return readKeyFile(path)
  } catch (error) {
    throw new UsageError(`Cannot read the token. ${(error as Error).message}`, { cause: error })
  }
}
