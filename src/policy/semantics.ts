import type { RoleSpace } from '../library/role-space.ts'
import type { Tensor, Workspace } from '../numerics/workspace.ts'

/** The frozen semantic vectors of one role; null for a realization it lacks. */
export interface RoleVectors {
  readonly role: ArrayLike<number>
  readonly atomic: ArrayLike<number> | null
  readonly group: ArrayLike<number> | null
}

/** The library's vectors in a workspace, times the policy's gain; shared by a policy and its reference. */
export interface Semantics {
  /** R × S. */
  readonly roles: Tensor
  /** 2R × S in branch order (role · 2 + realization); zeros for a realization the role lacks. */
  readonly branches: Tensor
}

export function placeSemantics(
  workspace: Workspace,
  space: RoleSpace,
  vectors: readonly RoleVectors[],
  semantic: number,
  gain: number,
): Semantics {
  if (vectors.length !== space.roles.length) {
    throw unusable(`there are ${vectors.length} role vectors for ${space.roles.length} roles`)
  }
  const roles = new Float32Array(vectors.length * semantic)
  const branches = new Float32Array(vectors.length * 2 * semantic)
  for (const [index, { role, atomic, group }] of vectors.entries()) {
    const { id, atomic: hasAtomic, group: hasGroup } = space.roles[index]!
    const place = (target: Float32Array, row: number, vector: ArrayLike<number>) => {
      if (vector.length !== semantic) {
        throw unusable(`a vector of role ${id} has ${vector.length} entries, but ${semantic} are needed`)
      }
      target.set(vector, row * semantic)
    }
    if (hasAtomic !== (atomic !== null) || hasGroup !== (group !== null)) {
      throw unusable(`the vectors of role ${id} do not fit its realizations`)
    }
    place(roles, index, role)
    if (atomic !== null) place(branches, index * 2, atomic)
    if (group !== null) place(branches, index * 2 + 1, group)
  }
  applyGain(roles, gain)
  applyGain(branches, gain)
  return {
    roles: workspace.constant(roles, vectors.length, semantic),
    branches: workspace.constant(branches, vectors.length * 2, semantic),
  }
}

/** Frozen vectors are scaled once, where they enter the network. */
export function applyGain(vectors: Float32Array, gain: number): void {
  if (gain === 1) return
  for (let entry = 0; entry < vectors.length; entry += 1) vectors[entry]! *= gain
}

function unusable(problem: string): Error {
  return new Error(`The library's embeddings cannot be used: ${problem}.`)
}
