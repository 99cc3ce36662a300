import type { Executor } from '../library/library.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import { availableTools } from '../library/profiles.ts'
import type { ProgramSandbox } from './sandbox/program-sandbox.ts'
import type { Tool } from './tools/tool.ts'
import { tools as builtInTools } from './tools/tools.ts'

/** The tools that can be used on this machine. */
export interface Toolbox {
  readonly tools: ReadonlyMap<string, Tool>
  readonly sandbox?: ProgramSandbox
}

export const emptyToolbox: Toolbox = { tools: new Map() }

/** The built-in tools that work here, and a user's own. Without a sandbox there is none that runs programs. */
export function openToolbox(sandbox?: ProgramSandbox, own: Iterable<Tool> = []): Toolbox {
  const tools = new Map<string, Tool>(Object.entries(builtInTools))
  if (sandbox === undefined) tools.delete('python_exec')
  if (sandbox?.pool === undefined) tools.delete('public_code')
  for (const tool of own) tools.set(tool.name, tool)
  return sandbox === undefined ? { tools } : { tools, sandbox }
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
