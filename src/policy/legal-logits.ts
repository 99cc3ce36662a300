import type { LegalityMasks } from '../graph/legality.ts'
import type { Tensor, Workspace } from '../numerics/workspace.ts'
import type { DecisionBatch } from './decision-heads.ts'
import { emptyLogits, type Logits } from './distribution.ts'

/** Output i of a head is the logit `indices[i]` of decision `decisions[i]`. */
interface Reading {
  readonly head: Tensor
  readonly level: keyof Logits
  readonly decisions: readonly number[]
  readonly indices: readonly number[]
}

/** The logits of several decisions, level by level as the heads are asked for them, and the way to send gradients back. */
export class LegalLogits {
  readonly values: readonly Logits[]
  readonly #batch: DecisionBatch
  readonly #masks: readonly LegalityMasks[]
  readonly #workspace: Workspace
  readonly #readings: Reading[] = []

  constructor(batch: DecisionBatch, masks: readonly LegalityMasks[], workspace: Workspace) {
    this.#batch = batch
    this.#masks = masks
    this.#workspace = workspace
    this.values = masks.map((mask) => emptyLogits(mask.roles.length - 1, unitsOf(mask)))
  }

  /** STOP and every legal role of every decision. Gives the legal roles as parallel lists. */
  readRoles(): { decisions: number[]; roles: number[] } {
    const decisions: number[] = []
    const roles: number[] = []
    for (const [decision, mask] of this.#masks.entries()) {
      for (let role = 0; role < mask.roles.length - 1; role += 1) {
        if (!mask.roles[role]) continue
        decisions.push(decision)
        roles.push(role)
      }
    }
    const stops = this.#masks.map((mask) => mask.roles.length - 1)
    this.#read('roles', this.#batch.stopLogits(), [...stops.keys()], stops)
    if (roles.length > 0) this.#read('roles', this.#batch.roleLogits(decisions, roles), decisions, roles)
    return { decisions, roles }
  }

  /** Both realizations of these roles. */
  readRealizations(decisions: readonly number[], roles: readonly number[]): void {
    if (roles.length === 0) return
    const both = decisions.flatMap((decision) => [decision, decision])
    const indices = roles.flatMap((role) => [role * 2, role * 2 + 1])
    this.#read('realizations', this.#batch.granularityLogits(decisions, roles), both, indices)
  }

  /** The legal edges of these branches. */
  readEdges(decisions: readonly number[], branches: readonly number[]): void {
    const pairs = decisions.map((decision, position) => {
      const branch = branches[position]!
      const mask = this.#masks[decision]!
      const size = unitsOf(mask)
      const units: number[] = []
      for (let unit = 0; unit < size; unit += 1) if (mask.edges[branch * size + unit]) units.push(unit)
      return { decision, branch, size, units }
    })
    const legal = pairs.filter(({ units }) => units.length > 0)
    if (legal.length === 0) return
    this.#read(
      'edges',
      this.#batch.edgeLogits(legal),
      legal.flatMap(({ decision, units }) => units.map(() => decision)),
      legal.flatMap(({ branch, size, units }) => units.map((unit) => branch * size + unit)),
    )
  }

  /** Writes gradients with respect to the logits into the gradient buffers of a recording tape. */
  writeGradients(gradients: readonly Logits[]): void {
    const { floats } = this.#workspace
    for (const { head, level, decisions, indices } of this.#readings)
      for (const [entry, decision] of decisions.entries())
        floats[(head.gradient >> 2) + entry] = gradients[decision]![level][indices[entry]!]!
  }

  #read(level: keyof Logits, head: Tensor, decisions: readonly number[], indices: readonly number[]): void {
    const { floats } = this.#workspace
    for (const [entry, decision] of decisions.entries())
      this.values[decision]![level][indices[entry]!] = floats[(head.data >> 2) + entry]!
    this.#readings.push({ head, level, decisions, indices })
  }
}

/** Asks all heads for every legal branch. */
export function legalLogits(
  batch: DecisionBatch,
  masks: readonly LegalityMasks[],
  workspace: Workspace,
): LegalLogits {
  const logits = new LegalLogits(batch, masks, workspace)
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
