import { accessSync, constants } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { Command } from 'commander'
import { lexicalEncoder } from '../../encoder/lexical-encoder.ts'
import { visibleText } from '../../graph/render/visible-text.ts'
import { paperDecoding } from '../../models/chat-model.ts'
import { type FailureKind, isRefusal } from '../../models/failure.ts'
import { presets } from '../../models/presets.ts'
import { priceOf } from '../../models/prices.ts'
import { SandboxPool } from '../../sandbox/pool.ts'
import { sandboxAvailability } from '../../sandbox/program-sandbox.ts'
import { simulatedModelName } from '../../simulator/model/simulator.ts'
import { drawn, screenOf } from '../display/screen.ts'
import { jsonText } from '../display/terminal-text.ts'
import { exitCode } from '../exit-code.ts'
import { jsonOption } from '../options/common-options.ts'
import { addModelOptions, type ModelOptions, openChosenModel } from '../options/model-options.ts'
import { UsageError } from '../problem.ts'

/** One thing that was looked at. `limited`: it works, but something better is missing. */
interface Finding {
  readonly what: string
  readonly state: 'ok' | 'limited' | 'missing'
  readonly found: string
  readonly remedy?: string
}

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
      process.stdout.write(options.json ? `${jsonText(findings)}\n` : describe(findings))
      process.exitCode = findings.some(({ state }) => state === 'missing') ? exitCode.failed : exitCode.done
    })
}

function node(): Finding {
  const gigabytes = (freemem() / 1024 ** 3).toFixed(1)
  return { what: 'Node', state: 'ok', found: `${process.version}, ${gigabytes} GiB of memory free` }
}

function disk(): Finding {
  const folders = [process.cwd(), tmpdir()]
  const closed = folders.filter((folder) => !isWritable(folder))
  if (closed.length === 0)
    return { what: 'disk', state: 'ok', found: `can write to ${folders.join(' and ')}` }
  const remedy = 'Run it in a folder of yours, or set TMPDIR.'
  return { what: 'disk', state: 'missing', found: `cannot write to ${closed.join(' and ')}`, remedy }
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
  const hosted = Object.entries(presets).filter(([, { needsKey }]) => needsKey)
  const set = hosted.filter(([, { apiKeyEnv }]) => process.env[apiKeyEnv]?.trim())
  if (set.length > 0) {
    return {
      what: 'keys',
      state: 'ok',
      found: set.map(([name, { apiKeyEnv }]) => `${name} (${apiKeyEnv})`).join(', '),
    }
  }
  const remedy = `Set one of ${hosted.map(([, { apiKeyEnv }]) => apiKeyEnv).join(', ')} to ask a language model.`
  return {
    what: 'keys',
    state: 'limited',
    found: 'none is set; the simulated model and local servers need none',
    remedy,
  }
}

/** One echo call shows address, key, model name and JSON mode at once. */
async function model(options: DoctorOptions): Promise<Finding[]> {
  try {
    const opened = await openChosenModel(options)
    if (options.replay !== undefined) {
      return [{ what: 'model', state: 'ok', found: `a recording, ${visibleText(options.replay)}` }]
    }
    try {
      const { provider, model: name } = opened.model.identity
      const who = name === simulatedModelName ? 'simulated model' : `${provider} ${name}`
      const reply = await opened.model.ask(
        {
          system: 'Reply with the JSON object {"ok": true} and nothing else.',
          user: '{"ping": true}',
          decoding: paperDecoding,
        },
        AbortSignal.timeout(30_000),
      )
      if (!reply.ok) {
        return [
          {
            what: 'model',
            state: 'missing',
            found: `${who}: ${visibleText(reply.message)}`,
            remedy: remedyFor(reply.kind),
          },
        ]
      }
      const milliseconds = `answered in ${Math.round(reply.durationMs)} ms`
      const price = priceOf(opened.model.identity)
      const findings: Finding[] = [
        reply.warnings.length === 0
          ? { what: 'model', state: 'ok', found: `${who} ${milliseconds}` }
          : {
              what: 'model',
              state: 'limited',
              found: `${who} ${milliseconds}, but: ${reply.warnings.join(', ')}`,
              remedy: 'See docs/models.md on usage and thinking.',
            },
      ]
      if (options.model !== simulatedModelName && price === undefined) {
        findings.push({
          what: 'price',
          state: 'limited',
          found: `none known for ${who}`,
          remedy: 'Give your own price table before you set a money budget.',
        })
      }
      return findings
    } finally {
      await opened.close()
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return [
      { what: 'model', state: 'missing', found: error.message, remedy: 'Set it, or use --model simulated.' },
    ]
  }
}

function remedyFor(kind: FailureKind): string {
  if (isRefusal(kind)) return 'Check the key, its permissions and the account.'
  if (kind === 'network' || kind === 'timeout')
    return 'Check --base-url, and that the server is running and can be reached.'
  return 'Check --model-name and --base-url.'
}

async function sandbox(): Promise<Finding> {
  const { kind, found, problem } = await sandboxAvailability(new SandboxPool())
  if (kind === 'bubblewrap') return { what: 'sandbox', state: 'ok', found: found.join(', ') }
  const remedy = problem?.message ?? 'Install bubblewrap.'
  if (kind === 'pyodide') {
    return {
      what: 'sandbox',
      state: 'limited',
      found: `${found.join(', ')}: python_exec works, code tasks do not`,
      remedy,
    }
  }
  return {
    what: 'sandbox',
    state: 'missing',
    found: 'none: tools that run programs are off, code tasks are refused',
    remedy,
  }
}

function encoder(): Finding {
  return {
    what: 'encoder',
    state: 'ok',
    found: `${lexicalEncoder.name} (built in, ${lexicalEncoder.dims} dimensions)`,
  }
}

function describe(findings: readonly Finding[]): string {
  const screen = screenOf(process.stdout)
  const marks = {
    ok: screen.paint('green', '✓'),
    limited: screen.paint('yellow', '!'),
    missing: screen.paint('red', '✗'),
  }
  return findings
    .map(({ what, state, found, remedy }) => {
      const line = `${marks[state]} ${what.padEnd(8)} ${found}\n`
      const indented = remedy?.replaceAll('\n', `\n${' '.repeat(13)}`)
      return indented === undefined ? line : `${line}           ${drawn('→', screen)} ${indented}\n`
    })
    .join('')
}
