import { accessSync, constants } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { Command } from 'commander'
import { lexicalEncoder } from '../../encoder/lexical-encoder.ts'
import { visibleText } from '../../graph/render/visible-text.ts'
import { type ChatModel, paperDecoding } from '../../models/chat-model.ts'
import { type FailureKind, isRefusal } from '../../models/failure.ts'
import { priceOf } from '../../models/prices.ts'
import { providers } from '../../models/providers.ts'
import { exitCode } from '../../problem.ts'
import { SandboxPool } from '../../sandbox/pool.ts'
import { sandboxAvailability } from '../../sandbox/program-sandbox.ts'
import { SandboxUnavailable } from '../../sandbox/unavailable.ts'
import { simulatedModelName } from '../../simulator/model/simulator.ts'
import { drawn, type Screen } from '../display/screen.ts'
import { jsonOption } from '../options/common-options.ts'
import { addModelOptions, type ModelOptions, openChosenModel } from '../options/model-options.ts'
import { printResult } from '../print.ts'
import { UsageError } from '../problem.ts'

interface Finding {
  readonly what: string
  readonly state: State
  readonly found: string
  readonly remedy?: string
}

/** `limited`: it works, but something better is missing. */
type State = 'ok' | 'limited' | 'missing'

interface DoctorOptions extends ModelOptions {
  readonly json: boolean
}

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description(
      'Say what works on this machine (Node, endpoint, key, sandbox, encoder) and what to do about the rest.',
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
      const findings = [node(), disk(), keys(), ...(await model(options)), await sandbox(), encoder()]
      printResult(
        options,
        () => findings,
        (screen) => findings.map((finding) => describe(finding, screen)).join(''),
      )
      process.exitCode = findings.some(({ state }) => state === 'missing') ? exitCode.failed : exitCode.done
    })
}

function finding(what: string, state: State, found: string, remedy?: string): Finding {
  return { what, state, found, remedy }
}

function node(): Finding {
  return finding('Node', 'ok', `${process.version}, ${(freemem() / 1024 ** 3).toFixed(1)} GiB of memory free`)
}

function disk(): Finding {
  const folders = [process.cwd(), tmpdir()]
  const closed = folders.filter((folder) => !isWritable(folder))
  if (closed.length === 0) return finding('disk', 'ok', `can write to ${folders.join(' and ')}`)
  const remedy = 'Run it in a folder of yours, or set TMPDIR.'
  return finding('disk', 'missing', `cannot write to ${closed.join(' and ')}`, remedy)
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
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
    if (options.replay !== undefined)
      return [finding('model', 'ok', `a recording, ${visibleText(options.replay)}`)]
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
  const reply = await asked.ask(
    {
      system: 'Reply with the JSON object {"ok": true} and nothing else.',
      user: '{"ping": true}',
      decoding: paperDecoding,
    },
    AbortSignal.timeout(30_000),
  )
  if (!reply.ok)
    return [finding('model', 'missing', `${who}: ${visibleText(reply.message)}`, remedyFor(reply.kind))]
  const answered = `${who} answered in ${Math.round(reply.durationMs)} ms`
  const warnings = reply.warnings.join(', ')
  const found =
    warnings === ''
      ? finding('model', 'ok', answered)
      : finding(
          'model',
          'limited',
          `${answered}, but: ${warnings}`,
          'See docs/models.md on usage and thinking.',
        )
  if (isSimulated || priceOf(asked.identity) !== undefined) return [found]
  const remedy = 'Give your own price table before you set a money budget.'
  return [found, finding('price', 'limited', `none known for ${who}`, remedy)]
}

function remedyFor(kind: FailureKind): string {
  if (isRefusal(kind)) return 'Check the key, its permissions and the account.'
  if (kind === 'network' || kind === 'timeout')
    return 'Check --base-url, and that the server is running and can be reached.'
  return 'Check --model-name and --base-url.'
}

async function sandbox(): Promise<Finding> {
  const found = await sandboxAvailability(new SandboxPool())
  if (!(found instanceof SandboxUnavailable)) return finding('sandbox', 'ok', found.join(', '))
  const lacking = 'none: tools that run programs are off, code tasks are refused'
  return finding('sandbox', 'missing', lacking, found.message)
}

function encoder(): Finding {
  const { name, dims } = lexicalEncoder
  return finding('encoder', 'ok', `${name} (built in, ${dims} dimensions)`)
}

const marks = { ok: ['green', '✓'], limited: ['yellow', '!'], missing: ['red', '✗'] } as const

function describe({ what, state, found, remedy }: Finding, screen: Screen): string {
  const [colour, mark] = marks[state]
  const line = `${screen.paint(colour, mark)} ${what.padEnd(8)} ${found}\n`
  if (remedy === undefined) return line
  return `${line}           ${drawn('→', screen)} ${remedy.replaceAll('\n', `\n${' '.repeat(13)}`)}\n`
}
