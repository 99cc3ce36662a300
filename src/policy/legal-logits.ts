import type { LegalityMasks } from '../graph/legality.ts'
import type { Tensor, Workspace } from '../numerics/workspace.ts'
import type { DecisionBatch } from './decision-heads.ts'
import { emptyLogits, type Logits } from './distribution.ts'

/** Output i of a head is logit `indices[i]` of decision `decisions[i]`. */
interface Reading {
  readonly head: Tensor
  readonly level: keyof Logits
  readonly decisions: readonly number[]
  readonly indices: readonly number[]
}

export type LegalLogits = ReturnType<typeof openLogits>

/** The logits of several decisions, evaluated level by level, and how to pass gradients back to the heads. */
export function openLogits(batch: DecisionBatch, masks: readonly LegalityMasks[], workspace: Workspace) {
  type List = readonly number[]
  const values = masks.map((mask) => emptyLogits(mask.roles.length - 1, unitsOf(mask)))
  const readings: Reading[] = []
  const read = (level: keyof Logits, head: Tensor, decisions: List, indices: List): void => {
    for (const [entry, decision] of decisions.entries())
      values[decision]![level][indices[entry]!] = workspace.floats[(head.data >> 2) + entry]!
    readings.push({ head, level, decisions, indices })
  }
  return {
    values,

    /** STOP and every legal role of every decision. Returns the legal roles as parallel lists. */
    readRoles(): { decisions: number[]; roles: number[] } {
      const decisions: number[] = []
      const roles: number[] = []
      for (const [decision, mask] of masks.entries()) {
        for (let role = 0; role < mask.roles.length - 1; role += 1) {
          if (!mask.roles[role]) continue
          decisions.push(decision)
          roles.push(role)
        }
      }
      const stops = masks.map((mask) => mask.roles.length - 1)
      read('roles', batch.stopLogits(), [...stops.keys()], stops)
      if (roles.length > 0) read('roles', batch.roleLogits(decisions, roles), decisions, roles)
      return { decisions, roles }
    },

    /** Both realizations of these roles. */
    readRealizations(decisions: List, roles: List): void {
      if (roles.length === 0) return
      const both = decisions.flatMap((decision) => [decision, decision])
      const indices = roles.flatMap((role) => [role * 2, role * 2 + 1])
      read('realizations', batch.granularityLogits(decisions, roles), both, indices)
    },

    /** The legal edges of these branches. */
    readEdges(decisions: List, branches: List): void {
      const pairs = decisions.map((decision, position) => {
        const [branch, mask] = [branches[position]!, masks[decision]!]
        const first = branch * unitsOf(mask)
        const units = [...Array(unitsOf(mask)).keys()].filter((unit) => mask.edges[first + unit])
        return { decision, branch, first, units }
      })
      const legal = pairs.filter(({ units }) => units.length > 0)
      if (legal.length === 0) return
      const ofUnits = legal.flatMap(({ decision, units }) => units.map(() => decision))
      const indices = legal.flatMap(({ first, units }) => units.map((unit) => first + unit))
      read('edges', batch.edgeLogits(legal), ofUnits, indices)
    },

    /** Writes gradients with respect to the logits into the gradient buffers of a recording tape. */
    writeGradients(gradients: readonly Logits[]): void {
      for (const { head, level, decisions, indices } of readings)
        for (const [entry, decision] of decisions.entries())
          workspace.floats[(head.gradient >> 2) + entry] = gradients[decision]![level][indices[entry]!]!
    },
  }
}

/** The logits of every legal branch. */
export function legalLogits(
  batch: DecisionBatch,
  masks: readonly LegalityMasks[],
  workspace: Workspace,
): LegalLogits {
  const logits = openLogits(batch, masks, workspace)
  const { decisions, roles } = logits.readRoles()
  logits.readRealizations(decisions, roles)
  const branches = masks.flatMap(({ realizations }, decision) =>
    [...realizations.keys()].map((branch) => ({ decision, branch })),
  )
  logits.readEdges(
    branches.map(({ decision }) => decision),
    branches.map(({ branch }) => branch),
  )
  return logits
}

function unitsOf({ edges, realizations }: LegalityMasks): number {
  return realizations.length === 0 ? 0 : edges.length / realizations.length
}
