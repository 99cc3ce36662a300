import type { Executor } from './library.ts'
import { compareTools, type ToolName } from './tool-name.ts'

/** The part of a library that a data set uses: its roles and enabled tools. */
export interface DatasetProfile {
  readonly id: string
  /** Role ids; their order does not matter. */
  readonly roles: readonly string[]
  readonly tools: readonly ToolName[]
}

/** The tools an executor can use: permitted, enabled by the profile, and available on the machine. */
export function availableTools(
  executor: Pick<Executor, 'tools'>,
  profile: Pick<DatasetProfile, 'tools'>,
  runtimeTools: Iterable<ToolName>,
): readonly ToolName[] {
  const enabled = new Set<ToolName>(profile.tools)
  const present = new Set(runtimeTools)
  return executor.tools.filter((tool) => enabled.has(tool) && present.has(tool)).sort(compareTools)
}
