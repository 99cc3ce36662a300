import type { Executor } from './library.ts'
import { compareTools, type ToolName } from './tool-name.ts'

/** Which part of a library a data set uses: its roles, and the tools that are switched on. */
export interface DatasetProfile {
  readonly id: string
  /** Role ids; the library's order holds, not this one. */
  readonly roles: readonly string[]
  readonly tools: readonly ToolName[]
}

/** What an executor can really use: what it is permitted, the profile switches on and the machine has. */
export function availableTools(
  executor: Pick<Executor, 'tools'>,
  profile: Pick<DatasetProfile, 'tools'>,
  runtimeTools: Iterable<ToolName>,
): readonly ToolName[] {
  const enabled = new Set<ToolName>(profile.tools)
  const present = new Set(runtimeTools)
  return executor.tools.filter((tool) => enabled.has(tool) && present.has(tool)).sort(compareTools)
}
