import { freemem } from 'node:os'
import type { Command } from 'commander'
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
import { shownText, wrapText } from '../display/screen.ts'
import { NotedCommand } from '../help-notes.ts'
import { jsonOption } from '../options/common-options.ts'
import { addModelOptions, type ModelOptions, openChosenModel } from '../options/model-options.ts'
import { printResult } from '../print.ts'
import { UsageError } from '../problem.ts'

interface Finding {
  readonly what: string
  /** `limited`: it works, but could be better. */
  readonly state: keyof typeof marks
  readonly found: string
  readonly remedy?: string
}

interface DoctorOptions extends ModelOptions {
  readonly json: boolean
}

const marks = { ok: ['green', '✓'], limited: ['yellow', '!'], missing: ['red', '✗'] } as const

export function doctorCommand(): Command {
  const command = new NotedCommand('doctor')
    .description(
      'Check what works on this machine (Node, keys, model, sandbox, encoder, ledger) and how to fix the rest.',
    )
    .addOption(jsonOption('the findings as JSON'))
  return addModelOptions(command)
    .notes({
      examples: [
        ['magic doctor'],
        ['magic doctor --model deepseek', 'also checks the key, with one tiny call'],
      ],
      notes: ['Exits with 1 if something you asked for is missing.'],
    })
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
      printResult(options, findings, (screen) =>
        findings.map(({ what, state, found, remedy }) => {
          const [colour, mark] = marks[state]
          const head = `${screen.paint(colour, mark)} ${what.padEnd(8)}`
          const wrapped = (text: string, indent: number) => wrapText(text, screen, ' '.repeat(indent))
          return [
            `${head} ${wrapped(shownText(found), 11)}`,
            remedy
              ?.split('\n')
              .map((line, place) => `${' '.repeat(11)}${place === 0 ? '→' : ' '} ${wrapped(line, 13)}`),
          ]
        }),
      )
      process.exitCode = findings.some(({ state }) => state === 'missing') ? exitCode.failed : exitCode.done
    })
}

function finding(what: string, state: Finding['state'], found: string, remedy?: string): Finding {
  return { what, state, found, remedy }
}

/** The PostgreSQL that stores the ledgers of new runs, if there is one. */
async function ledger(): Promise<Finding[]> {
  try {
    const address = givenAddress()
    if (address === undefined) return []
    await using database = await Database.open(address, { patienceMs: 5000 })
    const ledgers = await listLedgers(database)
    return [finding('ledger', 'ok', `PostgreSQL at ${address.place}, ledgers: ${ledgers.length}`)]
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return [finding('ledger', 'missing', error.message)]
  }
}

/** The providers whose key variable is set. Keys are never shown. */
function keys(): Finding {
  const hosted = Object.entries(providers).filter(([, { needsKey }]) => needsKey)
  const set = hosted.filter(([, { apiKeyEnv }]) => process.env[apiKeyEnv]?.trim())
  if (set.length > 0)
    return finding('keys', 'ok', set.map(([name, { apiKeyEnv }]) => `${name} (${apiKeyEnv})`).join(', '))
  const variables = hosted.map(([, { apiKeyEnv }]) => apiKeyEnv).join(', ')
  const found = 'none set; the simulated model and local servers need none'
  return finding('keys', 'limited', found, `Set one of ${variables} to use a hosted model.`)
}

async function model(options: DoctorOptions): Promise<Finding[]> {
  try {
    await using opened = await openChosenModel(options)
    if (options.replay !== undefined) return [finding('model', 'ok', `the recording ${options.replay}`)]
    return await echo(opened.model)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return [finding('model', 'missing', error.message, 'Set it, or use --model simulated.')]
  }
}

/** One small call checks address, key, model name and JSON mode. */
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
  const advice = 'Before you cap the cost, state the price: docs/models.md.'
  return [found, finding('price', 'limited', `unknown for ${who}`, advice)]
}

function remedyFor(kind: FailureKind): string {
  if (isRefusal(kind)) return 'Check the key, its permissions and the account.'
  if (kind === 'network' || kind === 'timeout')
    return 'Check --base-url, and that the server is running and reachable.'
  return 'Check --model-name and --base-url.'
}

const withoutSandbox = 'tools that run programs are off, and programs cannot be scored'

async function sandbox(): Promise<Finding> {
  const found = await sandboxAvailability(new SandboxPool())
  if (!(found instanceof SandboxUnavailable)) return finding('sandbox', 'ok', found.join(', '))
  return finding('sandbox', 'missing', `none: ${withoutSandbox}`, found.message)
}
