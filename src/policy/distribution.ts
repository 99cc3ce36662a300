import type { Action, LegalityMasks } from '../graph/legality.ts'
import { type RoleSpace, realizations } from '../library/role-space.ts'
import type { Random } from '../numerics/random.ts'

/** Untempered logits in the layout of the masks; masked entries are never read. */
export interface Logits {
  /** R + 1: the roles, then STOP. */
  readonly roles: Float64Array
  /** R × 2. */
  readonly realizations: Float64Array
  /** R × 2 × n. */
  readonly edges: Float64Array
}

/** Log-probabilities of every legal branch, in the same layout; for edges also of their absence. */
export interface LogProbabilities extends Logits {
  readonly absentEdges: Float64Array
}

export function emptyLogits(roles: number, units: number): Logits {
  return {
    roles: new Float64Array(roles + 1),
    realizations: new Float64Array(roles * 2),
    edges: new Float64Array(roles * 2 * units),
  }
}

/**
 * The policy's distribution over actions at one state: a role or STOP, then the role's realization, then an
 * independent yes or no for every legal predecessor, all from tempered logits and in doubles. Each level is computed
 * on first use, so a draw reads only the branches it takes, and logits of lower levels may be filled in after a
 * higher level was drawn.
 */
export class ActionDistribution {
  readonly masks: LegalityMasks
  readonly temperature: number
  /** Number of existing units, the possible predecessors. */
  readonly units: number
  readonly #space: RoleSpace
  readonly #logits: Logits
  readonly #known: LogProbabilities
  #rolesKnown = false
  readonly #realizationsKnown: Uint8Array
  readonly #edgesKnown: Uint8Array

  constructor(space: RoleSpace, masks: LegalityMasks, logits: Logits, temperature: number) {
    if (!(temperature > 0)) throw new RangeError(`The temperature is ${temperature}; it must be above 0.`)
    const roles = space.roles.length
    this.#space = space
    this.masks = masks
    this.#logits = logits
    this.temperature = temperature
    this.units = roles === 0 ? 0 : masks.edges.length / (roles * 2)
    this.#known = { ...emptyLogits(roles, this.units), absentEdges: new Float64Array(masks.edges.length) }
    this.#realizationsKnown = new Uint8Array(roles)
    this.#edgesKnown = new Uint8Array(roles * 2)
  }

  get stopProbability(): number {
    return Math.exp(this.#roleLevel().at(-1)!)
  }

  roleProbability(role: number): number {
    return Math.exp(this.#roleLevel()[role]!)
  }

  /** π(z | r). */
  realizationProbability(branch: number): number {
    return Math.exp(this.#realizationLevel(branch >> 1)[branch]!)
  }

  /** Probability of an edge from an existing unit, given role and realization; 0 if illegal. */
  edgeProbability(branch: number, unit: number): number {
    const edge = branch * this.units + unit
    return this.masks.edges[edge] ? Math.exp(this.#edgeLevel(branch)[edge]!) : 0
  }

  /** log π(r) + log π(z | r) + Σ_j [b_j log p_j + (1 − b_j) log(1 − p_j)]; −∞ for an illegal action. */
  logProbability(action: Action): number {
    if (action.type === 'stop') return this.#roleLevel().at(-1)!
    const role = this.#space.indexOf(action.role)
    const z = realizations.indexOf(action.realization)
    const branch = role * 2 + z
    if (z < 0 || !this.masks.realizations[branch]) return Number.NEGATIVE_INFINITY
    const chosen = chosenUnits(action.predecessors, this.units)
    if (chosen === undefined) return Number.NEGATIVE_INFINITY
    let sum = this.#roleLevel()[role]! + this.#realizationLevel(role)[branch]!
    const present = this.#edgeLevel(branch)
    for (let unit = 0; unit < this.units; unit += 1) {
      const edge = branch * this.units + unit
      if (this.masks.edges[edge]) sum += chosen[unit] ? present[edge]! : this.#known.absentEdges[edge]!
      else if (chosen[unit]) return Number.NEGATIVE_INFINITY
    }
    return sum
  }

  /**
   * One uniform draw per choice: role, realization, then the legal predecessors in construction order. Without
   * `random`, the most probable choice is taken each time.
   */
  sample(random?: Random): Action {
    const role = this.sampleRole(random)
    if (role === this.#space.roles.length) return { type: 'stop' }
    return this.addition(this.sampleBranch(role, random), random)
  }

  /** A role's index, or the number of roles for STOP. */
  sampleRole(random?: Random): number {
    return draw(this.#roleLevel(), 0, this.masks.roles.length, random)
  }

  sampleBranch(role: number, random?: Random): number {
    return draw(this.#realizationLevel(role), role * 2, role * 2 + 2, random)
  }

  /** The addition for a drawn branch, with its predecessors drawn. */
  addition(branch: number, random?: Random): Action {
    const present = this.#edgeLevel(branch)
    const predecessors: number[] = []
    for (let unit = 0; unit < this.units; unit += 1) {
      const edge = branch * this.units + unit
      if (this.masks.edges[edge] && (random?.uniform() ?? 0.5) < Math.exp(present[edge]!))
        predecessors.push(unit)
    }
    const role = this.#space.roles[branch >> 1]!.id
    return { type: 'add', role, realization: realizations[branch & 1]!, predecessors }
  }

  /** Adds to `into` the gradient of weight · log π(action) with respect to the tempered logits. */
  addLogProbabilityGradient(action: Action, weight: number, into: Logits): void {
    const known = this.logProbabilities()
    const stop = this.#space.roles.length
    const addOneHot = (level: 'roles' | 'realizations', from: number, to: number, chosen: number) => {
      for (let i = from; i < to; i += 1) {
        if (!this.masks[level][i]) continue
        into[level][i]! += weight * ((i === chosen ? 1 : 0) - Math.exp(known[level][i]!))
      }
    }
    const role = action.type === 'stop' ? stop : this.#space.indexOf(action.role)
    addOneHot('roles', 0, stop + 1, role)
    if (action.type === 'stop') return
    const branch = role * 2 + realizations.indexOf(action.realization)
    addOneHot('realizations', role * 2, role * 2 + 2, branch)
    const chosen = chosenUnits(action.predecessors, this.units)!
    for (let unit = 0; unit < this.units; unit += 1) {
      const edge = branch * this.units + unit
      if (!this.masks.edges[edge]) continue
      into.edges[edge]! +=
        weight * (chosen[unit] ? Math.exp(known.absentEdges[edge]!) : -Math.exp(known.edges[edge]!))
    }
  }

  /** All levels at once. */
  logProbabilities(): LogProbabilities {
    this.#roleLevel()
    for (let role = 0; role < this.#space.roles.length; role += 1) {
      if (this.masks.roles[role]) this.#realizationLevel(role)
    }
    for (let branch = 0; branch < this.#known.realizations.length; branch += 1) this.#edgeLevel(branch)
    return this.#known
  }

  #roleLevel(): Float64Array {
    if (!this.#rolesKnown) this.#softmax('roles', 0, this.masks.roles.length)
    this.#rolesKnown = true
    return this.#known.roles
  }

  #realizationLevel(role: number): Float64Array {
    if (!this.#realizationsKnown[role]) this.#softmax('realizations', role * 2, role * 2 + 2)
    this.#realizationsKnown[role] = 1
    return this.#known.realizations
  }

  /** Log-probabilities of the legal entries, −∞ for the others. */
  #softmax(level: 'roles' | 'realizations', from: number, to: number): void {
    const [logits, mask, into] = [this.#logits[level], this.masks[level], this.#known[level]]
    const { temperature } = this
    let largest = Number.NEGATIVE_INFINITY
    for (let i = from; i < to; i += 1) if (mask[i]) largest = Math.max(largest, logits[i]! / temperature)
    let sum = 0
    for (let i = from; i < to; i += 1) if (mask[i]) sum += Math.exp(logits[i]! / temperature - largest)
    const shift = largest + Math.log(sum)
    for (let i = from; i < to; i += 1)
      into[i] = mask[i] ? logits[i]! / temperature - shift : Number.NEGATIVE_INFINITY
  }

  #edgeLevel(branch: number): Float64Array {
    if (!this.#edgesKnown[branch]) {
      this.#edgesKnown[branch] = 1
      for (let edge = branch * this.units; edge < (branch + 1) * this.units; edge += 1) {
        if (!this.masks.edges[edge]) continue
        const logit = this.#logits.edges[edge]! / this.temperature
        this.#known.edges[edge] = logSigmoid(logit)
        this.#known.absentEdges[edge] = logSigmoid(-logit)
      }
    }
    return this.#known.edges
  }
}

function logSigmoid(x: number): number {
  return Math.min(0, x) - Math.log1p(Math.exp(-Math.abs(x)))
}

/**
 * The index at which the cumulative probability first exceeds a uniform draw, or the most probable one without
 * `random`. Masked entries have probability 0.
 */
function draw(logProbabilities: Float64Array, from: number, to: number, random?: Random): number {
  const target = random?.uniform() ?? Number.POSITIVE_INFINITY
  let cumulative = 0
  let last = from
  let best = from
  for (let i = from; i < to; i += 1) {
    const probability = Math.exp(logProbabilities[i]!)
    if (probability === 0) continue
    cumulative += probability
    last = i
    if (logProbabilities[i]! > logProbabilities[best]!) best = i
    if (target < cumulative) return i
  }
  if (random === undefined && cumulative > 0.5) return best
  // Rounding may leave the sum just below one; NaN leaves it at zero.
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
