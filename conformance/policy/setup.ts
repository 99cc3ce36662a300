import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { defineRoleSpace } from '../../src/library/role-space.ts'
import type { PlainParameters, PlainTensor } from '../../src/policy/parameter-shapes.ts'
import type { RoleVectors } from '../../src/policy/semantics.ts'
import { parseSafetensors } from '../../src/store/safetensors.ts'
import { count, numbers } from './golden.ts'
import type { PolicySetup } from './implementation.ts'

const common = {
  dims: z.object({ semantic: count, hidden: count, max_units: count, max_depth: count }),
  dropout_rate: z.number(),
}
const compatible = z.array(z.array(z.boolean()))
const vector = numbers.transform((entries) => Float64Array.from(entries))
const weights = z.record(z.string(), z.object({ shape: z.array(count), data: vector }))

/** Everything is in the file itself. */
const inlineSetup = z.object({
  ...common,
  library: z.object({
    roles: z.array(z.object({ embedding: vector, atomic: vector.nullable(), group: vector.nullable() })),
    compatible,
  }),
  queries: z.array(vector),
  weights: z.object({ policy: weights, reference: weights }),
})

/** Weights and vectors are in safetensors files beside it. */
const storedSetup = z.object({
  ...common,
  library: z.object({ roles: z.array(z.object({ atomic: z.boolean(), group: z.boolean() })), compatible }),
  files: z.object({ policy: z.string(), reference: z.string(), embeddings: z.string() }),
})

/** A golden file's setup, and the query embeddings that its cases refer to by index. */
export interface GoldenSetup extends PolicySetup {
  readonly queries: readonly Float64Array[]
}

export function readSetup(content: object, folder: string): GoldenSetup {
  return 'files' in content
    ? fromFiles(storedSetup.parse(content), folder)
    : fromContent(inlineSetup.parse(content))
}

function fromContent({ library, queries, weights, ...rest }: z.output<typeof inlineSetup>): GoldenSetup {
  const embeddings = library.roles.map(({ embedding, ...realizations }) => ({
    role: embedding,
    ...realizations,
  }))
  return {
    ...commonParts(rest, embeddings, library.compatible),
    queries,
    policy: new Map(Object.entries(weights.policy)),
    reference: new Map(Object.entries(weights.reference)),
  }
}

function fromFiles({ library, files, ...rest }: z.output<typeof storedSetup>, folder: string): GoldenSetup {
  const stored = readTensors(folder, files.embeddings)
  const rows = (name: string) => rowsOf(stored, name, files.embeddings)
  const [role, atomic, group] = [rows('role'), rows('atomic'), rows('group')]
  const embeddings = library.roles.map((has, index) => ({
    role: role(index),
    atomic: has.atomic ? atomic(index) : null,
    group: has.group ? group(index) : null,
  }))
  const queries = stored.get('query')?.shape[0] ?? 0
  return {
    ...commonParts(rest, embeddings, library.compatible),
    queries: Array.from({ length: queries }, (_, index) => rows('query')(index)),
    policy: readTensors(folder, files.policy),
    reference: readTensors(folder, files.reference),
  }
}

function commonParts(
  { dims, dropout_rate }: z.output<z.ZodObject<typeof common>>,
  embeddings: readonly RoleVectors[],
  fits: readonly (readonly boolean[])[],
): Pick<PolicySetup, 'dimensions' | 'dropoutRate' | 'roles' | 'embeddings'> {
  if ([fits, ...fits].some(({ length }) => length !== embeddings.length)) {
    throw new RangeError(`library.compatible is not a square of ${embeddings.length} roles`)
  }
  const shapes = embeddings.map(({ atomic, group }, index) => ({
    id: String(index),
    atomic: atomic !== null,
    group: group !== null,
  }))
  return {
    dimensions: {
      semantic: dims.semantic,
      hidden: dims.hidden,
      maxUnits: dims.max_units,
      maxDepth: dims.max_depth,
    },
    dropoutRate: dropout_rate,
    roles: defineRoleSpace(shapes, (from, to) => fits[from]![to]!),
    embeddings,
  }
}

function readTensors(folder: string, name: string): PlainParameters {
  const tensors = parseSafetensors(readFileSync(join(folder, name)), name)
  return new Map(
    [...tensors].map(([tensor, { shape, data }]): [string, PlainTensor] => {
      if (data instanceof BigInt64Array) throw new RangeError(`${name}: tensor '${tensor}' is not of floats`)
      return [tensor, { shape, data: Float64Array.from(data) }]
    }),
  )
}

function rowsOf(tensors: PlainParameters, name: string, file: string): (index: number) => Float64Array {
  const { shape, data } = tensors.get(name) ?? { shape: [], data: new Float64Array() }
  const [rows, width] = shape
  return (index) => {
    if (rows === undefined || width === undefined || index >= rows) {
      throw new RangeError(`${file}: tensor '${name}' has no row ${index}`)
    }
    return data.slice(index * width, (index + 1) * width)
  }
}
