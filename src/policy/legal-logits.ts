import type { LegalityMasks } from '../graph/legality.ts'
import type { Tensor, Workspace } from '../numerics/workspace.ts'
import type { DecisionBatch } from './decision-heads.ts'
import { emptyLogits, type Logits } from './distribution.ts'

/** The logits of every legal branch of several decisions, and the way to send gradients back into them. */
export interface LegalLogits {
  readonly values: readonly Logits[]
  /** Writes gradients with respect to the logits into the gradient buffers of a recording tape. */
  writeGradients(gradients: readonly Logits[]): void
}

/** Which entry of a head's output is which logit. */
interface Place {
  readonly decision: number
  readonly level: keyof Logits
  readonly index: number
  readonly head: Tensor
  readonly entry: number
}

/** Asks all three heads for every legal branch. */
export function legalLogits(
  batch: DecisionBatch,
  masks: readonly LegalityMasks[],
  workspace: Workspace,
): LegalLogits {
  const places = [...stopPlaces(batch, masks), ...rolePlaces(batch, masks), ...edgePlaces(batch, masks)]
  const values = masks.map((mask) => emptyLogits(mask.roles.length - 1, unitsOf(mask)))
  for (const { decision, level, index, head, entry } of places)
    values[decision]![level][index] = workspace.floats[(head.data >> 2) + entry]!
  return {
    values,
    writeGradients(gradients) {
      for (const { decision, level, index, head, entry } of places)
        workspace.floats[(head.gradient >> 2) + entry] = gradients[decision]![level][index]!
    },
  }
}

function stopPlaces(batch: DecisionBatch, masks: readonly LegalityMasks[]): Place[] {
  const head = batch.stopLogits()
  return masks.map(({ roles }, decision) => ({
    decision,
    level: 'roles',
    index: roles.length - 1,
    head,
    entry: decision,
  }))
}

function rolePlaces(batch: DecisionBatch, masks: readonly LegalityMasks[]): Place[] {
  const { decisions, roles } = legalRoles(masks)
  if (roles.length === 0) return []
  const roleHead = batch.roleLogits(decisions, roles)
  const granularityHead = batch.granularityLogits(decisions, roles)
  return roles.flatMap((role, row): Place[] => {
    const decision = decisions[row]!
    const realization = (z: number): Place => ({
      decision,
      level: 'realizations',
      index: role * 2 + z,
      head: granularityHead,
      entry: row * 2 + z,
    })
    return [
      { decision, level: 'roles', index: role, head: roleHead, entry: row },
      realization(0),
      realization(1),
    ]
  })
}

/** Every legal role of every decision, STOP apart, as parallel lists. */
export function legalRoles(masks: readonly LegalityMasks[]): { decisions: number[]; roles: number[] } {
  const decisions: number[] = []
  const roles: number[] = []
  for (const [decision, mask] of masks.entries()) {
    for (let role = 0; role < mask.roles.length - 1; role += 1) {
      if (!mask.roles[role]) continue
      decisions.push(decision)
      roles.push(role)
    }
  }
  return { decisions, roles }
}

function edgePlaces(batch: DecisionBatch, masks: readonly LegalityMasks[]): Place[] {
  const edges = masks.flatMap((mask, decision) => {
    const units = unitsOf(mask)
    return [...mask.edges.keys()]
      .filter((index) => mask.edges[index])
      .map((index) => ({ decision, index, branch: Math.floor(index / units), unit: index % units }))
  })
  if (edges.length === 0) return []
  const head = batch.edgeLogits(
    edges.map(({ decision }) => decision),
    edges.map(({ branch }) => branch),
    edges.map(({ unit }) => unit),
  )
  return edges.map(({ decision, index }, entry) => ({ decision, level: 'edges', index, head, entry }))
}

function unitsOf({ edges, realizations }: LegalityMasks): number {
  return realizations.length === 0 ? 0 : edges.length / realizations.length
}
