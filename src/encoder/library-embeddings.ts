import type { FrozenTextEncoder } from './text-encoder.ts'

/** The texts of a role and its realizations. */
interface RoleTexts {
  readonly role: string
  readonly atomic?: string | null
  readonly group?: string | null
}

/** The frozen semantic vectors of one role; null for a realization it lacks. */
export interface RoleEmbedding {
  readonly role: Float32Array
  readonly atomic: Float32Array | null
  readonly group: Float32Array | null
}

/** The vectors of a library, in its order, encoded in one call. */
export async function libraryEmbeddings(
  texts: readonly RoleTexts[],
  encoder: FrozenTextEncoder,
): Promise<RoleEmbedding[]> {
  const given = texts.flatMap(({ role, atomic, group }) => [role, atomic ?? null, group ?? null])
  const present = given.filter((text) => text !== null)
  const vectors = (await encoder.encode(present)).values()
  // Vectors come back in the order of their texts.
  const next = (text: string | null | undefined) => (text == null ? null : vectors.next().value!)
  return texts.map(({ role, atomic, group }) => ({
    role: next(role)!,
    atomic: next(atomic),
    group: next(group),
  }))
}
