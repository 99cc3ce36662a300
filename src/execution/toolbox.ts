import type { Executor } from '../library/library.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import { availableTools } from '../library/profiles.ts'
import type { ProgramSandbox } from '../sandbox/program-sandbox.ts'
import { SandboxUnavailable } from '../sandbox/unavailable.ts'
import type { Tool } from './tools/tool.ts'
import { tools as builtInTools } from './tools/tools.ts'

/** The tools that can be used on this machine. */
export interface Toolbox {
  readonly tools: ReadonlyMap<string, Tool>
  readonly sandbox?: ProgramSandbox
  /** Built-in tools that cannot be used, and why. */
  readonly off?: ReadonlyMap<string, string>
}

export const emptyToolbox: Toolbox = { tools: new Map() }

/** Those of the built-in tools that need a sandbox. */
export const programTools: readonly string[] = ['python_exec', 'public_code']

export const sandboxRemedy =
  'Install bubblewrap and python3 (`npm run setup` as root); `magic doctor` checks them.'

/** A sandbox, or why there is none; `null` where none is wanted. */
export type GivenSandbox = ProgramSandbox | SandboxUnavailable | null

/** The built-in tools that work here, and a user's own. Without a sandbox there is none that runs programs. */
export function openToolbox(given?: GivenSandbox, own: Iterable<Tool> = []): Toolbox {
  const sandbox = given instanceof SandboxUnavailable ? undefined : (given ?? undefined)
  const tools = new Map<string, Tool>(Object.entries(builtInTools))
  const off = new Map<string, string>()
  const why =
    given instanceof SandboxUnavailable ? `${given.reason} ${sandboxRemedy}` : 'no sandbox is asked for.'
  if (sandbox === undefined) for (const name of programTools) off.set(name, why)
  for (const name of off.keys()) tools.delete(name)
  for (const tool of own) {
    tools.set(tool.name, tool)
    off.delete(tool.name)
  }
  return { tools, off, sandbox }
}

/** What an executor has: permitted to it, switched on by the profile, present here. */
export function toolsOf(
  executor: Executor,
  profile: Pick<DatasetProfile, 'tools'>,
  { tools }: Toolbox,
): ReadonlyMap<string, Tool> {
  const names = executor.tools.length === 0 ? [] : availableTools(executor, profile, tools.keys())
  return new Map(names.map((name) => [name, tools.get(name)!]))
}
