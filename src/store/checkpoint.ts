import { createHash, webcrypto } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { JsonObject } from '../library/json-value.ts'
import type { AdamState } from '../numerics/adam.ts'
import { type Arithmetic, arithmetics } from '../numerics/kernels/kernels.ts'
import { assertParameters, type PolicyDimensions, parameterShapes } from '../policy/parameter-shapes.ts'
import type { ParameterValues } from '../policy/parameters.ts'
import { exitCode, Problem } from '../problem.ts'
import { currentFolder, replaceFolder, replaceFolderInBackground } from './replace-folder.ts'
import { parseSafetensors, type StoredTensor, serializeSafetensors } from './safetensors.ts'

/** What a checkpoint must fit: weights mean nothing beside other roles, another encoder or other sizes. */
export interface CheckpointIdentity {
  readonly dimensions: PolicyDimensions
  /** Fingerprint of the role library. */
  readonly library: string
  /** Fingerprint of the text encoder. */
  readonly encoder: string
  /** How the training rounds. To be expected by a resume, which could not go on to the bit with another. */
  readonly arithmetic: Arithmetic
}

/** All that a resume needs of the policy and its optimizer. */
export interface Checkpoint extends CheckpointIdentity {
  readonly seed: number
  /** Updates done. */
  readonly update: number
  readonly parameters: ParameterValues
  /** Absent where the policy will only be used. */
  readonly optimizer?: AdamState
  /** What the weights rest on, told by whoever trains them. Kept under the checkpoint's digest, and not looked into here. */
  readonly restsOn?: JsonObject
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
  arithmetic: z.enum(arithmetics),
  seed: z.number(),
  update: z.int().nonnegative(),
  adamStep: z.int().nonnegative().nullable(),
  /** Checkpoints of earlier versions have none. */
  restsOn: z.record(z.string(), z.json()).optional(),
  files: z.record(z.string(), fileRecord),
  /** SHA-256 of all of the above, as JSON without white space. */
  digest: z.string(),
})
type State = z.infer<typeof stateSchema>

/**
 * Writes a checkpoint folder: `policy.safetensors` (weights under their PyTorch names), `optimizer.safetensors`, and
 * `state.json` for the rest. It appears whole under its name or not at all, also after a power loss.
 */
export function writeCheckpoint(folder: string, checkpoint: Checkpoint): void {
  const contents = tensorFiles(checkpoint)
  const files = [...contents].map(([name, bytes]) => [name, fileRecordOf(bytes, digestOf(bytes))] as const)
  contents.set(stateFile, sealedState(checkpoint, Object.fromEntries(files)))
  try {
    assertReplaceable(folder)
    replaceFolder(folder, contents)
  } catch (error) {
    throw new CheckpointWriteError(folder, contents, error as Error)
  }
}

/**
 * The same, while other things go on: digests and disk take their time outside the event loop. Until it has ended, nobody may
 * change the checkpoint's arrays.
 */
export async function writeCheckpointInBackground(folder: string, checkpoint: Checkpoint): Promise<void> {
  // Who called it may have calls to send off; putting tens of megabytes in order would keep them waiting.
  await new Promise(setImmediate)
  const contents = tensorFiles(checkpoint)
  const files = await Promise.all(
    [...contents].map(
      async ([name, bytes]) => [name, fileRecordOf(bytes, await digestInBackground(bytes))] as const,
    ),
  )
  contents.set(stateFile, sealedState(checkpoint, Object.fromEntries(files)))
  try {
    assertReplaceable(folder)
    await replaceFolderInBackground(folder, contents)
  } catch (error) {
    throw new CheckpointWriteError(folder, contents, error as Error)
  }
}

function tensorFiles({
  parameters,
  optimizer,
  dimensions,
}: Checkpoint): Map<string, Uint8Array<ArrayBuffer>> {
  assertParameters(parameters, dimensions)
  const files = new Map([[weightsFile, serialize(floats(parameters))]])
  if (optimizer) files.set(optimizerFile, serialize(momentTensors(optimizer, dimensions)))
  return files
}

function sealedState(checkpoint: Checkpoint, files: State['files']): Uint8Array<ArrayBuffer> {
  const { optimizer, dimensions, library, encoder, arithmetic, seed, update, restsOn } = checkpoint
  const state: Omit<State, 'digest'> = {
    format: 'magic-checkpoint-v1',
    dimensions,
    library,
    encoder,
    arithmetic,
    seed,
    update,
    adamStep: optimizer?.step ?? null,
    ...(restsOn === undefined ? {} : { restsOn: restsOn as State['restsOn'] }),
    files,
  }
  // Parsed, because what could not be read back must not be written.
  const sealed = stateSchema.parse({ ...state, digest: digestOf(JSON.stringify(state)) })
  return new TextEncoder().encode(`${JSON.stringify(sealed, null, 2)}\n`)
}

/** Reads a checkpoint whole or refuses it, saying what is damaged or what does not fit. */
export function readCheckpoint(folder: string, expected: Partial<CheckpointIdentity> = {}): Checkpoint {
  const place = currentFolder(folder)
  const state = readState(folder, place)
  assertFits(folder, state, expected)
  const weights = readTensors(folder, place, weightsFile, state.files)
  try {
    assertParameters(weights, state.dimensions)
  } catch (error) {
    throw new CheckpointError(folder, `${weightsFile} does not hold this policy. ${(error as Error).message}`)
  }
  const { dimensions, library, encoder, arithmetic, seed, update, adamStep, restsOn } = state
  const checkpoint = {
    ...{ dimensions, library, encoder, arithmetic, seed, update, parameters: weights },
    ...(restsOn === undefined ? {} : { restsOn }),
  }
  if (adamStep === null) return checkpoint
  const moments = readTensors(folder, place, optimizerFile, state.files)
  return { ...checkpoint, optimizer: { step: adamStep, ...joinMoments(moments, dimensions, folder) } }
}

/** What a checkpoint tells of itself, without its weights. */
export function readCheckpointState(folder: string): Pick<Checkpoint, 'seed' | 'update' | 'restsOn'> {
  const { seed, update, restsOn } = readState(folder, currentFolder(folder))
  return { seed, update, ...(restsOn === undefined ? {} : { restsOn }) }
}

function readState(folder: string, place: string): State {
  const bytes = readOrRefuse(folder, place, stateFile)
  try {
    const content: unknown = JSON.parse(new TextDecoder().decode(bytes))
    const state = stateSchema.parse(content)
    const { digest, ...rest } = content as State
    if (digestOf(JSON.stringify(rest)) !== digest) throw new Error('its content does not have its digest')
    return state
  } catch (error) {
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new CheckpointError(folder, `${stateFile} is damaged or of another version: ${problem}`)
  }
}

/** A folder with anything else in it is somebody's work, not a checkpoint to be replaced. */
function assertReplaceable(folder: string): void {
  let names: string[] = []
  try {
    names = readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const foreign = names.find((name) => ![weightsFile, optimizerFile, stateFile].includes(name))
  if (foreign !== undefined) throw new Error(`it holds ${foreign}, which is no part of a checkpoint`)
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
  if (expected.arithmetic !== undefined && state.arithmetic !== expected.arithmetic) {
    const remedy = 'run with MAGIC_ARITHMETIC set to the former where the processor allows it'
    differences.push(
      `it was trained with ${state.arithmetic} arithmetic, not ${expected.arithmetic} (${remedy})`,
    )
  }
  if (differences.length > 0)
    throw new CheckpointError(folder, `it is for another policy: ${differences.join('; ')}`)
}

function readTensors(
  folder: string,
  place: string,
  name: string,
  files: State['files'],
): ReadonlyMap<string, { shape: readonly number[]; data: Float32Array }> {
  const refuse = (problem: string) => new CheckpointError(folder, problem)
  const record = files[name]
  if (record === undefined) throw refuse(`${stateFile} does not mention ${name}`)
  const bytes = readOrRefuse(folder, place, name)
  if (bytes.length !== record.bytes) {
    const how = bytes.length < record.bytes ? 'it is truncated' : 'something was added to it'
    throw refuse(`${name} has ${bytes.length} bytes instead of ${record.bytes}: ${how}`)
  }
  if (digestOf(bytes) !== record.sha256) {
    throw refuse(`${name} is damaged: its contents do not have the digest in ${stateFile}`)
  }
  const tensors = new Map<string, { shape: readonly number[]; data: Float32Array }>()
  for (const [tensor, { shape, data }] of parseSafetensors(bytes, join(place, name)).tensors) {
    if (!(data instanceof Float32Array)) throw refuse(`${tensor} in ${name} is not of type F32`)
    tensors.set(tensor, { shape, data })
  }
  return tensors
}

function readOrRefuse(folder: string, place: string, name: string): Uint8Array {
  try {
    return readFileSync(join(place, name))
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
    const end = offset + shape.reduce((product, extent) => product * extent, 1)
    tensors.set(`first_moment.${name}`, { shape, data: first.subarray(offset, end) })
    tensors.set(`second_moment.${name}`, { shape, data: second.subarray(offset, end) })
    offset = end
  }
  if (first.length !== offset || second.length !== offset) {
    throw new RangeError(
      `There are ${first.length} and ${second.length} moments, but the policy has ${offset} weights.`,
    )
  }
  return tensors
}

function joinMoments(
  tensors: ReadonlyMap<string, { shape: readonly number[]; data: Float32Array }>,
  dimensions: PolicyDimensions,
  folder: string,
): { first: Float32Array; second: Float32Array } {
  const shapes = parameterShapes(dimensions)
  const join = (prefix: string) => {
    const parts = [...shapes].map(([name, shape]) => {
      const tensor = tensors.get(`${prefix}.${name}`)
      if (tensor?.shape.join() !== shape.join()) {
        throw new CheckpointError(folder, `${optimizerFile} lacks ${prefix}.${name} of shape [${shape}]`)
      }
      return tensor.data
    })
    const joined = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0))
    let offset = 0
    for (const part of parts) {
      joined.set(part, offset)
      offset += part.length
    }
    return joined
  }
  return { first: join('first_moment'), second: join('second_moment') }
}

function floats(values: ParameterValues): Map<string, StoredTensor> {
  return new Map(
    [...values].map(([name, { shape, data }]) => [
      name,
      { shape, data: data instanceof Float32Array ? data : Float32Array.from(data) },
    ]),
  )
}

function serialize(tensors: ReadonlyMap<string, StoredTensor>): Uint8Array<ArrayBuffer> {
  return serializeSafetensors({ tensors, metadata: new Map() })
}

function fileRecordOf({ length }: Uint8Array, sha256: string): z.infer<typeof fileRecord> {
  return { bytes: length, sha256 }
}

function digestOf(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex')
}

async function digestInBackground(content: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', content)).toString('hex')
}

export class CheckpointError extends Problem {
  constructor(folder: string, problem: string) {
    super(`The checkpoint ${folder} cannot be used: ${problem}.`)
  }
}

export class CheckpointWriteError extends Problem {
  constructor(folder: string, contents: ReadonlyMap<string, Uint8Array>, cause: Error) {
    const bytes = [...contents.values()].reduce((sum, { length }) => sum + length, 0)
    super(
      `The checkpoint ${folder} (${bytes} bytes) cannot be written: ${cause.message}. Nothing there is half written.`,
      { cause, exitCode: exitCode.disk },
    )
  }
}
