import { changesBetween } from './differing-settings.ts'
import { decidingPart, type Membership, RunError, type RunRecord } from './run-folder.ts'
import { toolDifference } from './run-tools.ts'

/** Refuses to go on with anything that would lead to other weights than the run was begun for. */
export function assertSameRun(begun: RunRecord, now: RunRecord): void {
  if (begun.tools !== undefined && now.tools !== undefined) {
    const difference = toolDifference(begun.tools, now.tools)
    if (difference !== undefined) throw new RunError(`The run ${begun.name} ${difference}`)
  }
  // Fields that this version has added are not the run's. Tools that are off may be off for another reason now.
  const { tools: _, ...deciding } = decidingPart(begun)
  const same = Object.keys(deciding).map((field) => [field, now[field as keyof RunRecord]] as const)
  const differences = changesBetween(deciding, Object.fromEntries(same))
  if (differences.length === 0) return
  const list = differences.map((line) => `  ${line}\n`).join('')
  throw new RunError(
    `The run ${begun.name} cannot be resumed with what there is now:\n${list}Put back what has changed, or begin a new run.`,
  )
}

/** Refuses training questions in another order, which their digests do not show: each update learns from the next one. */
export function assertSameOrder({ splits }: Membership, now: readonly { readonly id: string }[]): void {
  const begun = splits['train'] ?? []
  const place = now.findIndex(({ id }, index) => id !== begun[index])
  if (place === -1 && begun.length === now.length) return
  throw new RunError(
    `The run cannot be resumed: its training questions stand in another order now. Question ${place + 1} was '${begun[place]}' and is '${now[place]?.id}'. Put them back in their order, or begin a new run.`,
  )
}
