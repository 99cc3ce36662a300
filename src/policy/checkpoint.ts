import { createHash } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import type { AdamState } from '../numerics/adam.ts'
import { assertParameters, type PolicyDimensions, parameterShapes } from './parameter-shapes.ts'
import type { ParameterValues } from './parameters.ts'
import { parseSafetensors, type StoredTensor, serializeSafetensors } from './safetensors.ts'

/** What a checkpoint must fit: weights mean nothing beside other roles, another encoder or other sizes. */
export interface CheckpointIdentity {
  readonly dimensions: PolicyDimensions
  /** Fingerprint of the role library. */
  readonly library: string
  /** Fingerprint of the text encoder. */
  readonly encoder: string
}

/** All that a resume needs of the policy and its optimizer. */
export interface Checkpoint extends CheckpointIdentity {
  readonly seed: number
  /** Updates done. */
  readonly update: number
  readonly parameters: ParameterValues
  /** Absent where the policy will only be used. */
  readonly optimizer?: AdamState
}

const weightsFile = 'policy.safetensors'
const optimizerFile = 'optimizer.safetensors'
const stateFile = 'state.json'

const fileRecord = z.object({ bytes: z.int().nonnegative(), sha256: z.string() })
const stateSchema = z.object({
  format: z.literal('magic-checkpoint-v1'),
  dimensions: z.object({
    semantic: z.int().positive(),
    hidden: z.int().positive(),
    maxUnits: z.int().positive(),
    maxDepth: z.int().positive(),
  }),
  library: z.string(),
  encoder: z.string(),
  seed: z.number(),
  update: z.int().nonnegative(),
  adamStep: z.int().nonnegative().nullable(),
  files: z.record(z.string(), fileRecord),
})

/**
 * Writes a checkpoint folder: `policy.safetensors` (weights under their PyTorch names), `optimizer.safetensors`, and
 * `state.json` for the rest. It appears whole under its name or not at all, also after a power loss.
 */
export function writeCheckpoint(folder: string, checkpoint: Checkpoint): void {
  const { parameters, optimizer, dimensions, library, encoder, seed, update } = checkpoint
  assertParameters(parameters, dimensions)
  const contents = new Map([[weightsFile, serialize(floats(parameters))]])
  if (optimizer) contents.set(optimizerFile, serialize(momentTensors(optimizer, dimensions)))
  const files = Object.fromEntries([...contents].map(([name, bytes]) => [name, describe(bytes)]))
  const adamStep = optimizer?.step ?? null
  const state: z.infer<typeof stateSchema> = {
    format: 'magic-checkpoint-v1',
    dimensions,
    library,
    encoder,
    seed,
    update,
    adamStep,
    files,
  }
  contents.set(stateFile, new TextEncoder().encode(`${JSON.stringify(state, null, 2)}\n`))

  const unfinished = join(dirname(folder), `.${basename(folder)}.${process.pid}.unfinished`)
  const replaced = join(dirname(folder), `.${basename(folder)}.${process.pid}.replaced`)
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  for (const [name, bytes] of contents) writeDurably(join(unfinished, name), bytes)
  syncFolder(unfinished)
  // A folder cannot be renamed over one that has files: the old one steps aside first.
  const old = renameIfPresent(folder, replaced)
  renameSync(unfinished, folder)
  syncFolder(dirname(folder))
  if (old) rmSync(replaced, { recursive: true, force: true })
}

/** Reads a checkpoint whole or refuses it, saying what is damaged or what does not fit. */
export function readCheckpoint(folder: string, expected: Partial<CheckpointIdentity> = {}): Checkpoint {
  const state = readState(folder)
  assertFits(folder, state, expected)
  const weights = readTensors(folder, weightsFile, state.files)
  const parameters = new Map(
    [...weights].map(([name, { shape, data }]) => [name, { shape, data: data as Float32Array }]),
  )
  try {
    assertParameters(parameters, state.dimensions)
  } catch (error) {
    throw new CheckpointError(folder, `${weightsFile} does not hold this policy. ${(error as Error).message}`)
  }
  const { dimensions, library, encoder, seed, update, adamStep } = state
  const checkpoint = { dimensions, library, encoder, seed, update, parameters }
  if (adamStep === null) return checkpoint
  const moments = readTensors(folder, optimizerFile, state.files)
  return { ...checkpoint, optimizer: { step: adamStep, ...joinMoments(moments, dimensions, folder) } }
}

function readState(folder: string): z.infer<typeof stateSchema> {
  const bytes = readOrRefuse(folder, stateFile)
  try {
    return stateSchema.parse(JSON.parse(new TextDecoder().decode(bytes)))
  } catch (error) {
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new CheckpointError(folder, `${stateFile} is damaged or of another version: ${problem}`)
  }
}

function assertFits(folder: string, state: CheckpointIdentity, expected: Partial<CheckpointIdentity>): void {
  const differences: string[] = []
  for (const [name, wanted] of Object.entries(expected.dimensions ?? {})) {
    const found = state.dimensions[name as keyof PolicyDimensions]
    if (found !== wanted) differences.push(`${name} is ${found}, not ${wanted}`)
  }
  for (const name of ['library', 'encoder'] as const) {
    const wanted = expected[name]
    if (wanted === undefined || state[name] === wanted) continue
    differences.push(`it was trained with the ${name} ${state[name]}, not ${wanted}`)
  }
  if (differences.length > 0)
    throw new CheckpointError(folder, `it is for another policy: ${differences.join('; ')}`)
}

function readTensors(
  folder: string,
  name: string,
  files: z.infer<typeof stateSchema>['files'],
): ReadonlyMap<string, StoredTensor> {
  const record = files[name]
  if (record === undefined) throw new CheckpointError(folder, `${stateFile} does not mention ${name}`)
  const bytes = readOrRefuse(folder, name)
  if (bytes.length !== record.bytes) {
    throw new CheckpointError(
      folder,
      `${name} has ${bytes.length} bytes instead of ${record.bytes}: it is truncated`,
    )
  }
  if (describe(bytes).sha256 !== record.sha256) {
    throw new CheckpointError(
      folder,
      `${name} is damaged: its contents do not have the digest in ${stateFile}`,
    )
  }
  return parseSafetensors(bytes, join(folder, name)).tensors
}

function readOrRefuse(folder: string, name: string): Uint8Array {
  try {
    return readFileSync(join(folder, name))
  } catch (error) {
    throw new CheckpointError(folder, `${name} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** The moments as tensors named like the weights they belong to. */
function momentTensors(
  { first, second }: AdamState,
  dimensions: PolicyDimensions,
): Map<string, StoredTensor> {
  const tensors = new Map<string, StoredTensor>()
  let offset = 0
  for (const [name, shape] of parameterShapes(dimensions)) {
    const size = shape.reduce((product, extent) => product * extent, 1)
    tensors.set(`first_moment.${name}`, { shape, data: first.slice(offset, offset + size) })
    tensors.set(`second_moment.${name}`, { shape, data: second.slice(offset, offset + size) })
    offset += size
  }
  return tensors
}

function joinMoments(
  tensors: ReadonlyMap<string, StoredTensor>,
  dimensions: PolicyDimensions,
  folder: string,
): { first: Float32Array; second: Float32Array } {
  const join = (prefix: string) =>
    Float32Array.from(
      [...parameterShapes(dimensions)].flatMap(([name, shape]) => {
        const tensor = tensors.get(`${prefix}.${name}`)
        if (tensor?.shape.join() !== shape.join()) {
          throw new CheckpointError(folder, `${optimizerFile} lacks ${prefix}.${name} of shape [${shape}]`)
        }
        return [...(tensor.data as Float32Array)]
      }),
    )
  return { first: join('first_moment'), second: join('second_moment') }
}

function floats(values: ParameterValues): Map<string, StoredTensor> {
  return new Map(
    [...values].map(([name, { shape, data }]) => [name, { shape, data: Float32Array.from(data) }]),
  )
}

function serialize(tensors: ReadonlyMap<string, StoredTensor>): Uint8Array {
  return serializeSafetensors({ tensors, metadata: new Map() })
}

function describe(bytes: Uint8Array): z.infer<typeof fileRecord> {
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

function writeDurably(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'w')
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function renameIfPresent(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

export class CheckpointError extends Error {
  override name = 'CheckpointError'
  constructor(folder: string, problem: string) {
    super(`The checkpoint ${folder} cannot be used: ${problem}.`)
  }
}
