import type { Executor } from '../library/library.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import { availableTools } from '../library/profiles.ts'
import type { ProgramSandbox } from '../sandbox/program-sandbox.ts'
import { SandboxUnavailable } from '../sandbox/unavailable.ts'
import type { Tool } from './tools/tool.ts'
import { tools as builtInTools } from './tools/tools.ts'

/** The tools available on this machine. */
export interface Toolbox {
  readonly tools: ReadonlyMap<string, Tool>
  readonly sandbox?: ProgramSandbox
  /** Built-in tools that are unavailable, with the reason. */
  readonly off?: ReadonlyMap<string, string>
}

export const emptyToolbox: Toolbox = { tools: new Map() }

/** The built-in tools that need a sandbox. */
export const programTools: readonly string[] = ['python_exec', 'public_code']

export const sandboxRemedy =
  'Install bubblewrap and python3 (`npm run setup` as root); `magic doctor` checks them.'

/** A sandbox, the reason why there is none, or `null` if none is wanted. */
export type GivenSandbox = ProgramSandbox | SandboxUnavailable | null

/** The built-in tools that work here, plus the user's own. Without a sandbox, tools that run programs are left out. */
export function openToolbox(given?: GivenSandbox, own: Iterable<Tool> = []): Toolbox {
  const sandbox = given instanceof SandboxUnavailable ? undefined : (given ?? undefined)
  const tools = new Map<string, Tool>(Object.entries(builtInTools))
  const off = new Map<string, string>()
  const why =
    given instanceof SandboxUnavailable ? `${given.reason} ${sandboxRemedy}` : 'no sandbox was requested.'
  if (sandbox === undefined) for (const name of programTools) off.set(name, why)
  for (const name of off.keys()) tools.delete(name)
  for (const tool of own) {
    tools.set(tool.name, tool)
    off.delete(tool.name)
  }
  return { tools, off, sandbox }
}

/** An executor's tools: permitted by the library, enabled by the profile, and available here. */
export function toolsOf(
  executor: Executor,
  profile: Pick<DatasetProfile, 'tools'>,
  { tools }: Toolbox,
): ReadonlyMap<string, Tool> {
  const names = executor.tools.length === 0 ? [] : availableTools(executor, profile, tools.keys())
  return new Map(names.map((name) => [name, tools.get(name)!]))
}
