import type { Action, LegalityMasks } from '../graph/legality.ts'
import { type RoleSpace, realizations } from '../library/role-space.ts'
import type { Random } from '../numerics/random.ts'

/** Untempered logits in the layout of the masks; what is masked is never read. */
export interface Logits {
  /** R + 1: the roles, then STOP. */
  readonly roles: Float64Array
  /** R × 2. */
  readonly realizations: Float64Array
  /** R × 2 × n. */
  readonly edges: Float64Array
}

/** Weights of the terms of one position's loss: −advantage·log π(action) + divergenceWeight·KL − entropyWeight·H. */
export interface PositionLoss {
  readonly advantage: number
  readonly action: Action
  readonly divergenceWeight: number
  readonly entropyWeight: number
}

export function emptyLogits(roles: number, units: number): Logits {
  return {
    roles: new Float64Array(roles + 1),
    realizations: new Float64Array(roles * 2),
    edges: new Float64Array(roles * 2 * units),
  }
}

/**
 * The tempered distribution over one decision's actions: a role or STOP, then the role's realization, then an
 * independent yes or no for every legal predecessor. Computed in doubles; the tempered distribution is the policy.
 * A level is computed when it is first asked for, so that a draw reads just the branches it takes and logits of lower
 * levels may be filled in after a higher one was drawn.
 */
export class ActionDistribution {
  readonly #space: RoleSpace
  readonly #masks: LegalityMasks
  readonly #logits: Logits
  readonly #temperature: number
  readonly #units: number
  /** Log-probabilities; of edges also those of their absence. */
  readonly #roles: Float64Array
  readonly #realizations: Float64Array
  readonly #edges: Float64Array
  readonly #absent: Float64Array
  #rolesKnown = false
  readonly #realizationsKnown: Uint8Array
  readonly #edgesKnown: Uint8Array

  constructor(space: RoleSpace, masks: LegalityMasks, logits: Logits, temperature: number) {
    if (!(temperature > 0)) throw new RangeError(`The temperature is ${temperature}; it must be above 0.`)
    this.#space = space
    this.#masks = masks
    this.#logits = logits
    this.#temperature = temperature
    this.#units = masks.realizations.length === 0 ? 0 : masks.edges.length / masks.realizations.length
    this.#roles = new Float64Array(masks.roles.length)
    this.#realizations = new Float64Array(masks.realizations.length)
    this.#edges = new Float64Array(masks.edges.length)
    this.#absent = new Float64Array(masks.edges.length)
    this.#realizationsKnown = new Uint8Array(space.roles.length)
    this.#edgesKnown = new Uint8Array(masks.realizations.length)
  }

  get stopProbability(): number {
    return Math.exp(this.#roleLevel().at(-1)!)
  }

  roleProbability(role: number): number {
    return Math.exp(this.#roleLevel()[role]!)
  }

  /** Of a realization, given its role. */
  realizationProbability(branch: number): number {
    return Math.exp(this.#realizationLevel(branch >> 1)[branch]!)
  }

  /** Of an edge from an existing unit, given role and realization; 0 where it is illegal. */
  edgeProbability(branch: number, unit: number): number {
    const edge = branch * this.#units + unit
    return this.#masks.edges[edge] ? Math.exp(this.#edgeLevel(branch)[edge]!) : 0
  }

  /** −∞ for an action that is not legal. */
  logProbability(action: Action): number {
    if (action.type === 'stop') return this.#roleLevel().at(-1)!
    const role = this.#space.indexOf(action.role)
    const z = realizations.indexOf(action.realization)
    const branch = role * 2 + z
    if (z < 0 || !this.#masks.realizations[branch]) return Number.NEGATIVE_INFINITY
    const chosen = chosenUnits(action.predecessors, this.#units)
    if (chosen === undefined) return Number.NEGATIVE_INFINITY
    let sum = this.#roleLevel()[role]! + this.#realizationLevel(role)[branch]!
    const present = this.#edgeLevel(branch)
    for (let unit = 0; unit < this.#units; unit += 1) {
      const edge = branch * this.#units + unit
      if (this.#masks.edges[edge]) sum += chosen[unit] ? present[edge]! : this.#absent[edge]!
      else if (chosen[unit]) return Number.NEGATIVE_INFINITY
    }
    return sum
  }

  /** One uniform draw per choice: role, realization, then the legal predecessors in construction order. */
  sample(random: Random): Action {
    const role = this.sampleRole(random)
    if (role === this.#space.roles.length) return { type: 'stop' }
    return this.addition(this.sampleBranch(role, random), random)
  }

  /** A role's position, or the number of roles for STOP. */
  sampleRole(random: Random): number {
    return draw(this.#roleLevel(), 0, this.#roles.length, random)
  }

  sampleBranch(role: number, random: Random): number {
    return draw(this.#realizationLevel(role), role * 2, role * 2 + 2, random)
  }

  /** The addition of a drawn branch, with its predecessors drawn. */
  addition(branch: number, random: Random): Action {
    const present = this.#edgeLevel(branch)
    const predecessors: number[] = []
    for (let unit = 0; unit < this.#units; unit += 1) {
      const edge = branch * this.#units + unit
      if (this.#masks.edges[edge] && random.uniform() < Math.exp(present[edge]!)) predecessors.push(unit)
    }
    const role = this.#space.roles[branch >> 1]!.id
    return { type: 'add', role, realization: realizations[branch & 1]!, predecessors }
  }

  /** H of the hierarchical distribution: every legal branch, weighted by the probability of reaching it. */
  entropy(): number {
    return this.#regularizer(this, 0, -1)
  }

  /** KL from this distribution to another over the same actions. */
  divergence(reference: ActionDistribution): number {
    return this.#regularizer(reference, 1, 0)
  }

  /** Adds to `into` the gradient of `scale` × one position's loss with respect to the untempered logits. */
  addLossGradient(loss: PositionLoss, reference: ActionDistribution, scale: number, into: Logits): void {
    const perLogit = scale / this.#temperature
    this.#regularizer(reference, loss.divergenceWeight, loss.entropyWeight, { into, scale: perLogit })
    this.#addActionGradient(loss.action, -loss.advantage * perLogit, into)
  }

  /**
   * Σ π·(divergenceWeight·(log π − log ρ) + entropyWeight·log π) over the hierarchy: divergenceWeight·KL − entropyWeight·H. For a
   * softmax π with such values v its gradient is π_i (v_i − Σ π v), because Σ π ∇log π = 0; a branch's values include
   * those of the level below it.
   */
  #regularizer(
    other: ActionDistribution,
    divergenceWeight: number,
    entropyWeight: number,
    gradient?: { into: Logits; scale: number },
  ): number {
    const value = (own: number, others: number) => divergenceWeight * (own - others) + entropyWeight * own
    this.#knowAll()
    other.#knowAll()
    const roleCount = this.#space.roles.length
    const roleValues = new Float64Array(roleCount + 1)
    for (let role = 0; role <= roleCount; role += 1) {
      if (!this.#masks.roles[role]) continue
      roleValues[role] = value(this.#roles[role]!, other.#roles[role]!)
      if (role === roleCount) continue
      const reach = Math.exp(this.#roles[role]!)
      const branchValues = new Float64Array(2)
      let roleMean = 0
      for (let z = 0; z < 2; z += 1) {
        const branch = role * 2 + z
        if (!this.#masks.realizations[branch]) continue
        const probability = Math.exp(this.#realizations[branch]!)
        let sum = value(this.#realizations[branch]!, other.#realizations[branch]!)
        for (let edge = branch * this.#units; edge < (branch + 1) * this.#units; edge += 1) {
          if (!this.#masks.edges[edge]) continue
          const present = value(this.#edges[edge]!, other.#edges[edge]!)
          const absent = value(this.#absent[edge]!, other.#absent[edge]!)
          const p = Math.exp(this.#edges[edge]!)
          const q = Math.exp(this.#absent[edge]!)
          sum += p * present + q * absent
          if (gradient)
            gradient.into.edges[edge]! += gradient.scale * reach * probability * p * q * (present - absent)
        }
        branchValues[z] = sum
        roleMean += probability * sum
      }
      roleValues[role]! += roleMean
      if (!gradient) continue
      for (let z = 0; z < 2; z += 1) {
        const branch = role * 2 + z
        if (!this.#masks.realizations[branch]) continue
        const probability = Math.exp(this.#realizations[branch]!)
        gradient.into.realizations[branch]! +=
          gradient.scale * reach * probability * (branchValues[z]! - roleMean)
      }
    }
    let total = 0
    for (let role = 0; role <= roleCount; role += 1) {
      if (this.#masks.roles[role]) total += Math.exp(this.#roles[role]!) * roleValues[role]!
    }
    if (gradient) {
      for (let role = 0; role <= roleCount; role += 1) {
        if (!this.#masks.roles[role]) continue
        gradient.into.roles[role]! +=
          gradient.scale * Math.exp(this.#roles[role]!) * (roleValues[role]! - total)
      }
    }
    return total
  }

  /** The gradient of weight · log π(action). */
  #addActionGradient(action: Action, weight: number, into: Logits): void {
    this.#knowAll()
    const role = action.type === 'stop' ? this.#space.roles.length : this.#space.indexOf(action.role)
    addOneHot(into.roles, this.#roles, this.#masks.roles, 0, this.#roles.length, role, weight)
    if (action.type === 'stop') return
    const branch = role * 2 + realizations.indexOf(action.realization)
    addOneHot(
      into.realizations,
      this.#realizations,
      this.#masks.realizations,
      role * 2,
      role * 2 + 2,
      branch,
      weight,
    )
    const chosen = chosenUnits(action.predecessors, this.#units)!
    for (let unit = 0; unit < this.#units; unit += 1) {
      const edge = branch * this.#units + unit
      if (!this.#masks.edges[edge]) continue
      into.edges[edge]! +=
        weight * (chosen[unit] ? Math.exp(this.#absent[edge]!) : -Math.exp(this.#edges[edge]!))
    }
  }

  #roleLevel(): Float64Array {
    if (!this.#rolesKnown) {
      this.#rolesKnown = true
      logSoftmax(this.#logits.roles, this.#masks.roles, 0, this.#roles.length, this.#temperature, this.#roles)
    }
    return this.#roles
  }

  #realizationLevel(role: number): Float64Array {
    if (!this.#realizationsKnown[role]) {
      this.#realizationsKnown[role] = 1
      const { realizations: mask } = this.#masks
      logSoftmax(
        this.#logits.realizations,
        mask,
        role * 2,
        role * 2 + 2,
        this.#temperature,
        this.#realizations,
      )
    }
    return this.#realizations
  }

  #edgeLevel(branch: number): Float64Array {
    if (!this.#edgesKnown[branch]) {
      this.#edgesKnown[branch] = 1
      for (let edge = branch * this.#units; edge < (branch + 1) * this.#units; edge += 1) {
        if (!this.#masks.edges[edge]) continue
        const logit = this.#logits.edges[edge]! / this.#temperature
        this.#edges[edge] = logSigmoid(logit)
        this.#absent[edge] = logSigmoid(-logit)
      }
    }
    return this.#edges
  }

  #knowAll(): void {
    this.#roleLevel()
    for (let role = 0; role < this.#space.roles.length; role += 1) {
      if (this.#masks.roles[role]) this.#realizationLevel(role)
    }
    for (let branch = 0; branch < this.#realizations.length; branch += 1) this.#edgeLevel(branch)
  }
}

/** Log-probabilities of the legal entries; the others get −∞. */
function logSoftmax(
  logits: Float64Array,
  mask: Uint8Array,
  from: number,
  to: number,
  temperature: number,
  into: Float64Array,
): void {
  let largest = Number.NEGATIVE_INFINITY
  for (let i = from; i < to; i += 1) if (mask[i]) largest = Math.max(largest, logits[i]! / temperature)
  let sum = 0
  for (let i = from; i < to; i += 1) if (mask[i]) sum += Math.exp(logits[i]! / temperature - largest)
  const shift = largest + Math.log(sum)
  for (let i = from; i < to; i += 1)
    into[i] = mask[i] ? logits[i]! / temperature - shift : Number.NEGATIVE_INFINITY
}

function logSigmoid(x: number): number {
  return Math.min(0, x) - Math.log1p(Math.exp(-Math.abs(x)))
}

function addOneHot(
  into: Float64Array,
  logProbabilities: Float64Array,
  mask: Uint8Array,
  from: number,
  to: number,
  chosen: number,
  weight: number,
): void {
  for (let i = from; i < to; i += 1) {
    if (mask[i]) into[i]! += weight * ((i === chosen ? 1 : 0) - Math.exp(logProbabilities[i]!))
  }
}

/** The index whose cumulative probability first exceeds a uniform draw; masked entries have probability 0. */
function draw(logProbabilities: Float64Array, from: number, to: number, random: Random): number {
  const target = random.uniform()
  let cumulative = 0
  let last = from
  for (let i = from; i < to; i += 1) {
    const probability = Math.exp(logProbabilities[i]!)
    if (probability === 0) continue
    cumulative += probability
    last = i
    if (target < cumulative) return i
  }
  // The probabilities may add up to a hair below one; where they are no numbers there is nothing to draw from.
  if (cumulative > 0.5) return last
  throw new RangeError(
    'The policy gives no probabilities: its weights or the query embedding are not finite.',
  )
}

function chosenUnits(predecessors: readonly number[], units: number): Uint8Array | undefined {
  const chosen = new Uint8Array(units)
  for (const predecessor of predecessors) {
    if (!Number.isInteger(predecessor) || predecessor < 0 || predecessor >= units || chosen[predecessor])
      return undefined
    chosen[predecessor] = 1
  }
  return chosen
}
