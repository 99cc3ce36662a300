import { z } from 'zod'
import { type GivenSandbox, programTools, sandboxRemedy, type Toolbox } from '../execution/toolbox.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import { builtInTools } from '../library/tool-name.ts'
import { Problem } from '../problem.ts'
import { SandboxPool } from '../sandbox/pool.ts'
import { openProgramSandbox, ProgramSandbox, sandboxAvailability } from '../sandbox/program-sandbox.ts'
import { SandboxUnavailable } from '../sandbox/unavailable.ts'

/** `tools` in `run.json`: models are told about their tools, so another set leads to other answers. */
export const runToolsSchema = z.object({
  /** Where programs run; the same program may print something else in another sandbox. Only earlier versions had Pyodide. */
  sandbox: z.enum(['bubblewrap', 'pyodide']).nullable(),
  on: z.array(z.string()),
  /** The reason by name. */
  off: z.record(z.string(), z.string()),
})

export type RunTools = z.output<typeof runToolsSchema>

/** Which of the profile's tools are available, and why the others are not. */
export function describeTools(
  { tools: wanted }: Pick<DatasetProfile, 'tools'>,
  { tools, sandbox, off }: Toolbox,
): RunTools {
  const lacking = wanted.filter((name) => !tools.has(name))
  const reason = (name: string) => off?.get(name) ?? 'there is no tool of this name: add it under `tools`.'
  return {
    sandbox: sandbox?.kind ?? null,
    on: wanted.filter((name) => tools.has(name)),
    off: Object.fromEntries(lacking.map((name) => [name, reason(name)])),
  }
}

/** How the tools differ from those the run was begun with; undefined if they do not. */
export function toolDifference(begun: RunTools, now: RunTools): string | undefined {
  const missing = begun.on.filter((name) => !now.on.includes(name))
  if (missing.length > 0) {
    const reasons = [...new Set(missing.map((name) => now.off[name] ?? 'the profile leaves it out.'))]
    return `was trained with ${missing.join(' and ')}, which cannot be used here: ${reasons.join(' ')}`
  }
  const further = now.on.filter((name) => !begun.on.includes(name))
  if (further.length > 0) return `was trained without ${further.join(' and ')}. Leave it out of \`tools\`.`
  if (begun.sandbox === now.sandbox || begun.on.length === 0) return undefined
  return `was trained with programs running in ${begun.sandbox ?? 'no sandbox'}; now it would be ${now.sandbox ?? 'none'}.`
}

/** Throws if a user-defined tool that the run was trained with is missing: models would answer differently. */
export function assertToolsOfRun(
  { name, tools }: { name: string; tools?: RunTools },
  toolbox: Pick<Toolbox, 'tools'>,
): void {
  const missing = (tools?.on ?? []).filter((tool) => !isBuiltIn(tool) && !toolbox.tools.has(tool))
  if (missing.length === 0) return
  throw new Problem(
    `The run ${name} was trained with your own ${missing.join(' and ')}; a run's folder does not contain the code of tools. Pass it to \`solve\` in code (\`tools: [${missing.join(', ')}]\`), or name a configuration that has it under \`tools\` with --config.`,
  )
}

function isBuiltIn(tool: string): boolean {
  return (builtInTools as readonly string[]).includes(tool)
}

/** This machine's sandbox, or why there is none. */
export async function machineSandbox(): Promise<ProgramSandbox | SandboxUnavailable> {
  try {
    return await openProgramSandbox()
  } catch (error) {
    if (error instanceof SandboxUnavailable) return error
    throw error
  }
}

/**
 * The sandbox a run was begun with, or null if it had none. Throws `SandboxUnavailable`, naming the missing tools, if
 * it no longer works. Runs of earlier versions did not record it: they get this machine's.
 */
export async function sandboxOfRun(tools: RunTools | undefined): Promise<GivenSandbox> {
  if (tools === undefined) return machineSandbox()
  const needing = tools.on.filter((name) => programTools.includes(name))
  // Without such a tool, the kind of sandbox makes no difference.
  if (needing.length === 0) return tools.sandbox === null ? null : new ProgramSandbox(new SandboxPool())
  const sandbox = unstartedSandbox(tools)
  if (sandbox === null) return null
  const found = await sandboxAvailability(sandbox.pool)
  if (!(found instanceof SandboxUnavailable)) return sandbox
  throw new SandboxUnavailable(
    `This run was trained with ${needing.join(' and ')}, which cannot be used here: ${found.reason} ${sandboxRemedy}`,
  )
}

/** Like `sandboxOfRun`, but without checking that it works: enough to compare digests. */
export function unstartedSandbox({ sandbox }: RunTools): ProgramSandbox | null {
  if (sandbox === null) return null
  if (sandbox === 'bubblewrap') return new ProgramSandbox(new SandboxPool())
  throw new Problem(
    'This run was trained with programs running in Pyodide, which only earlier versions had: train it again.',
  )
}
