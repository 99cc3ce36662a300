import { changesBetween } from './differing-settings.ts'
import { decidingPart, type Membership, RunError, type RunRecord } from './run-folder.ts'
import { toolDifference } from './run-tools.ts'

/** Throws if anything has changed that would lead to other weights. */
export function assertSameRun(begun: RunRecord, now: RunRecord): void {
  if (begun.tools !== undefined && now.tools !== undefined) {
    const difference = toolDifference(begun.tools, now.tools)
    if (difference !== undefined) throw new RunError(`The run ${begun.name} ${difference}`)
  }
  // Fields added by this version are not compared. Tools may be off for another reason now.
  const { tools: _, ...deciding } = decidingPart(begun)
  const same = Object.keys(deciding).map((field) => [field, now[field as keyof RunRecord]] as const)
  const differences = changesBetween(deciding, Object.fromEntries(same))
  if (differences.length === 0) return
  const list = differences.map((line) => `  ${line}\n`).join('')
  throw new RunError(
    `The run ${begun.name} cannot be resumed, because its inputs have changed:\n${list}Restore them, or start a new run.`,
  )
}

/** Throws if the training questions are in another order, which digests do not show: each update takes the next question. */
export function assertSameOrder({ splits }: Membership, now: readonly { readonly id: string }[]): void {
  const begun = splits['train'] ?? []
  const place = now.findIndex(({ id }, index) => id !== begun[index])
  if (place === -1 && begun.length === now.length) return
  throw new RunError(
    `The run cannot be resumed: its training questions are in a different order now. Question ${place + 1} was '${begun[place]}' and is '${now[place]?.id}'. Restore their order, or start a new run.`,
  )
}
