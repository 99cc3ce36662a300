import { freemem } from 'node:os'
import { Command } from 'commander'
import { lexicalEncoder } from '../../encoder/lexical-encoder.ts'
import { type ChatModel, paperDecoding } from '../../models/chat-model.ts'
import { type FailureKind, isRefusal } from '../../models/failure.ts'
import { priceOf } from '../../models/prices.ts'
import { providers } from '../../models/providers.ts'
import { exitCode, Problem } from '../../problem.ts'
import { SandboxPool } from '../../sandbox/pool.ts'
import { sandboxAvailability } from '../../sandbox/program-sandbox.ts'
import { SandboxUnavailable } from '../../sandbox/unavailable.ts'
import { simulatedModelName } from '../../simulator/model/simulated-name.ts'
import { listLedgers } from '../../store/ledger/postgres-ledgers.ts'
import { givenAddress } from '../../store/postgres/address.ts'
import { Database } from '../../store/postgres/database.ts'
import { shownText } from '../display/screen.ts'
import { jsonOption } from '../options/common-options.ts'
import { addModelOptions, type ModelOptions, openChosenModel } from '../options/model-options.ts'
import { printResult } from '../print.ts'
import { UsageError } from '../problem.ts'

interface Finding {
  readonly what: string
  /** `limited`: it works, but something better is missing. */
  readonly state: keyof typeof marks
  readonly found: string
  readonly remedy?: string
}

interface DoctorOptions extends ModelOptions {
  readonly json: boolean
}

const marks = { ok: ['green', '✓'], limited: ['yellow', '!'], missing: ['red', '✗'] } as const

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description(
      'Say what works on this machine (Node, endpoint, key, sandbox, encoder, ledger) and what to do about the rest.',
    )
    .addOption(jsonOption('the findings as JSON'))
  return addModelOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  magic doctor
  magic doctor --model deepseek      also checks the key with one tiny call

Exits with 1 when something that was asked for is missing.`,
    )
    .action(async (options: DoctorOptions) => {
      const { name, dims } = lexicalEncoder
      const memory = (freemem() / 1024 ** 3).toFixed(1)
      const findings = [
        finding('Node', 'ok', `${process.version}, ${memory} GiB of memory free`),
        keys(),
        ...(await model(options)),
        await sandbox(),
        finding('encoder', 'ok', `${name} (built in, ${dims} dimensions)`),
        ...(await ledger()),
      ]
      printResult(
        options,
        () => findings,
        (screen) =>
          findings.map(({ what, state, found, remedy }) => {
            const [colour, mark] = marks[state]
            const line = `${screen.paint(colour, mark)} ${what.padEnd(8)} ${shownText(found)}`
            return [line, remedy && `           → ${remedy.replaceAll('\n', `\n${' '.repeat(13)}`)}`]
          }),
      )
      process.exitCode = findings.some(({ state }) => state === 'missing') ? exitCode.failed : exitCode.done
    })
}

function finding(what: string, state: Finding['state'], found: string, remedy?: string): Finding {
  return { what, state, found, remedy }
}

/** The PostgreSQL that new runs keep their ledger on, where one is given. */
async function ledger(): Promise<Finding[]> {
  try {
    const address = givenAddress()
    if (address === undefined) return []
    const database = await Database.open(address, { patienceMs: 5000 })
    const ledgers = await listLedgers(database).finally(() => database.close())
    return [finding('ledger', 'ok', `PostgreSQL at ${address.place}, ledgers: ${ledgers.length}`)]
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return [finding('ledger', 'missing', error.message)]
  }
}

/** Which providers could be asked, by their key variables; a key is never shown. */
function keys(): Finding {
  const hosted = Object.entries(providers).filter(([, { needsKey }]) => needsKey)
  const set = hosted.filter(([, { apiKeyEnv }]) => process.env[apiKeyEnv]?.trim())
  if (set.length > 0)
    return finding('keys', 'ok', set.map(([name, { apiKeyEnv }]) => `${name} (${apiKeyEnv})`).join(', '))
  const variables = hosted.map(([, { apiKeyEnv }]) => apiKeyEnv).join(', ')
  const found = 'none is set; the simulated model and local servers need none'
  return finding('keys', 'limited', found, `Set one of ${variables} to ask a language model.`)
}

async function model(options: DoctorOptions): Promise<Finding[]> {
  try {
    const opened = await openChosenModel(options)
    if (options.replay !== undefined) return [finding('model', 'ok', `a recording, ${options.replay}`)]
    return await echo(opened.model).finally(() => opened.close())
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return [finding('model', 'missing', error.message, 'Set it, or use --model simulated.')]
  }
}

/** One call checks address, key, model name and JSON mode at once. */
async function echo(asked: ChatModel): Promise<Finding[]> {
  const { provider, model: name } = asked.identity
  const isSimulated = name === simulatedModelName
  const who = isSimulated ? 'simulated model' : `${provider} ${name}`
  const request = {
    system: 'Reply with the JSON object {"ok": true} and nothing else.',
    user: '{"ping": true}',
  }
  const reply = await asked.ask({ ...request, decoding: paperDecoding }, AbortSignal.timeout(30_000))
  if (!reply.ok) return [finding('model', 'missing', `${who}: ${reply.message}`, remedyFor(reply.kind))]
  const answered = `${who} answered in ${Math.round(reply.durationMs)} ms`
  const doubts = reply.warnings.length > 0 ? `, but: ${reply.warnings.join(', ')}` : ''
  const help = doubts === '' ? undefined : 'See docs/models.md on usage and thinking.'
  const found = finding('model', doubts === '' ? 'ok' : 'limited', `${answered}${doubts}`, help)
  if (isSimulated || priceOf(asked.identity) !== undefined) return [found]
  const advice = 'Give your own price table before you set a money budget.'
  return [found, finding('price', 'limited', `none known for ${who}`, advice)]
}

function remedyFor(kind: FailureKind): string {
  if (isRefusal(kind)) return 'Check the key, its permissions and the account.'
  if (kind === 'network' || kind === 'timeout')
    return 'Check --base-url, and that the server is running and can be reached.'
  return 'Check --model-name and --base-url.'
}

const withoutSandbox = 'tools that run programs are off, code tasks are refused'

async function sandbox(): Promise<Finding> {
  const found = await sandboxAvailability(new SandboxPool())
  if (!(found instanceof SandboxUnavailable)) return finding('sandbox', 'ok', found.join(', '))
  return finding('sandbox', 'missing', `none: ${withoutSandbox}`, found.message)
}
