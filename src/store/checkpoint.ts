import { webcrypto } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { JsonObject } from '../library/json-value.ts'
import type { AdamState } from '../numerics/adam.ts'
import { arithmetics } from '../numerics/kernels/kernels.ts'
import { assertShapes, type ParameterValues, type Shapes } from '../numerics/parameters.ts'
import { parameterShapes } from '../policy/parameter-shapes.ts'
import { exitCode, Problem } from '../problem.ts'
import { remedyOf } from './disk-error.ts'
import { digestOf, fileDigestSchema } from './durable-file.ts'
import { currentFolder, replaceFolder } from './replace-folder.ts'
import { parseSafetensors, type StoredTensor, serializeSafetensors } from './safetensors.ts'

const weightsFile = 'policy.safetensors'
const optimizerFile = 'optimizer.safetensors'
const stateFile = 'state.json'

const size = z.int().positive()
const json: z.ZodType<JsonObject> = z.record(z.string(), z.json())
const stateSchema = z.object({
  format: z.literal('magic-checkpoint-v1'),
  /** The policy's dimensions; absent if another organisation learns. */
  dimensions: z.object({ semantic: size, hidden: size, maxUnits: size, maxDepth: size }).optional(),
  /** The organisation whose weights these are. */
  organisation: z.string().optional(),
  /** Fingerprint of the role library. */
  library: z.string(),
  /** Fingerprint of the text encoder. */
  encoder: z.string(),
  /** How the training rounds. A resume must match it, or results would not be identical. */
  arithmetic: z.enum(arithmetics),
  /** Gain of the frozen vectors; absent if 1, as in checkpoints of earlier versions. */
  gain: z.number().positive().optional(),
  seed: z.number(),
  /** Updates done. */
  update: z.int().nonnegative(),
  adamStep: z.int().nonnegative().nullable(),
  /** What the weights rest on, as stated by the trainer; not interpreted here. Missing in earlier versions. */
  restsOn: json.optional(),
  files: z.record(z.string(), fileDigestSchema),
  /** SHA-256 of everything above, as compact JSON. */
  digest: z.string(),
})
type State = z.infer<typeof stateSchema>

/** What a checkpoint must match: weights are meaningless with other roles, another encoder or other sizes. */
export type CheckpointIdentity = Readonly<
  Pick<State, 'dimensions' | 'organisation' | 'library' | 'encoder' | 'arithmetic' | 'gain'>
>

/** Everything a resume needs of the policy and its optimizer. */
export interface Checkpoint extends CheckpointIdentity, Readonly<Pick<State, 'seed' | 'update' | 'restsOn'>> {
  readonly parameters: ParameterValues
  /** Absent if the policy will only be used, not trained. */
  readonly optimizer?: AdamState
}

/**
 * Writes a checkpoint folder: `policy.safetensors` (weights under their PyTorch names), `optimizer.safetensors`, and
 * `state.json` for the rest. It appears atomically, even after a power loss. Digests and writes run outside the event
 * loop; until they end, the checkpoint's arrays must not change.
 */
export async function writeCheckpoint(folder: string, checkpoint: Checkpoint): Promise<void> {
  // Lets the caller's pending calls go out first, since serializing tens of megabytes would delay them.
  await new Promise(setImmediate)
  const contents = tensorFiles(checkpoint)
  const files: State['files'] = {}
  for (const [name, bytes] of contents)
    files[name] = { bytes: bytes.length, sha256: await digestInBackground(bytes) }
  contents.set(stateFile, sealedState(checkpoint, files))
  try {
    assertReplaceable(folder)
    await replaceFolder(folder, contents)
  } catch (error) {
    throw new CheckpointWriteError(folder, contents, error as Error)
  }
}

function tensorFiles(checkpoint: Checkpoint): Map<string, Uint8Array<ArrayBuffer>> {
  const { parameters, optimizer } = checkpoint
  const shapes = shapesOf(checkpoint, parameters)
  assertShapes(parameters, shapes)
  const weights = [...parameters].map(([name, { shape, data }]): [string, StoredTensor] => [
    name,
    { shape, data: data instanceof Float32Array ? data : Float32Array.from(data) },
  ])
  const files = new Map([[weightsFile, serializeSafetensors(new Map(weights))]])
  if (optimizer) files.set(optimizerFile, serializeSafetensors(momentTensors(optimizer, shapes)))
  return files
}

function sealedState(checkpoint: Checkpoint, files: State['files']): Uint8Array<ArrayBuffer> {
  const { optimizer, dimensions, organisation, library, encoder, arithmetic } = checkpoint
  const { seed, update, restsOn } = checkpoint
  const gain = checkpoint.gain === 1 ? undefined : checkpoint.gain
  const identity = { dimensions, organisation, library, encoder, arithmetic, gain }
  const adamStep = optimizer?.step ?? null
  const state = { format: 'magic-checkpoint-v1', ...identity, seed, update, adamStep, restsOn, files }
  // Parsed, so that nothing unreadable is ever written.
  const sealed = stateSchema.parse({ ...state, digest: digestOf(JSON.stringify(state)).sha256 })
  return new TextEncoder().encode(`${JSON.stringify(sealed, null, 2)}\n`)
}

/** Reads a checkpoint, or throws an error that says what is damaged or does not match. */
export function readCheckpoint(folder: string, expected: Partial<CheckpointIdentity> = {}): Checkpoint {
  return inside(folder, (place) => {
    const { format: _, adamStep, files, digest: __, ...state } = readState(place)
    assertFits(state, expected)
    const parameters = readTensors(place, weightsFile, files)
    const shapes = shapesOf(state, parameters)
    assertHolds(weightsFile, parameters, shapes)
    if (adamStep === null) return { ...state, parameters }
    const moments = readTensors(place, optimizerFile, files)
    const joined = (prefix: string) => joinMoments(moments, prefix, shapes)
    const optimizer = { step: adamStep, first: joined('first_moment.'), second: joined('second_moment.') }
    return { ...state, parameters, optimizer }
  })
}

/** Reads a checkpoint's state without its weights. */
export function readCheckpointState(folder: string): Pick<Checkpoint, 'seed' | 'update' | 'restsOn'> {
  return inside(folder, readState)
}

/** Reads from the folder's current location; errors name the folder. */
function inside<Content>(folder: string, read: (place: string) => Content): Content {
  try {
    return read(currentFolder(folder))
  } catch (error) {
    throw new CheckpointError(folder, (error as Error).message, { cause: error })
  }
}

function readState(place: string): State {
  const bytes = readOrRefuse(place, stateFile)
  try {
    const content: unknown = JSON.parse(new TextDecoder().decode(bytes))
    const state = stateSchema.parse(content)
    const { digest, ...rest } = content as State
    if (digestOf(JSON.stringify(rest)).sha256 !== digest) throw new Error('its digest does not match')
    return state
  } catch (error) {
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new Error(`${stateFile} is damaged or of another version: ${problem}`)
  }
}

/** A folder with any other file in it is not a checkpoint, and must not be replaced. */
function assertReplaceable(folder: string): void {
  let names: string[] = []
  try {
    names = readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const foreign = names.find((name) => ![weightsFile, optimizerFile, stateFile].includes(name))
  if (foreign !== undefined) throw new Error(`it contains ${foreign}, which is not part of a checkpoint`)
}

function assertFits(state: CheckpointIdentity, expected: Partial<CheckpointIdentity>): void {
  const flat = ({ dimensions, ...others }: Partial<CheckpointIdentity>) => {
    const { organisation, library, encoder, gain, arithmetic } = others
    return Object.entries({ ...dimensions, organisation, library, encoder, gain, arithmetic })
  }
  const found = new Map(flat({ ...state, gain: state.gain ?? 1 }))
  const differences = flat(expected)
    .filter(([name, wanted]) => wanted !== undefined && found.get(name) !== wanted)
    .map(([name, wanted]) => `its ${name} is ${found.get(name)}, not ${wanted}`)
  if (differences.length === 0) return
  const remedy = 'MAGIC_ARITHMETIC sets the arithmetic where the processor allows it'
  if (differences.at(-1)!.startsWith('its arithmetic')) differences.push(remedy)
  throw new Error(`it is for another policy: ${differences.join('; ')}`)
}

type Tensors = Map<string, { readonly shape: readonly number[]; readonly data: Float32Array }>

function readTensors(place: string, name: string, files: State['files']): Tensors {
  const record = files[name]
  if (record === undefined) throw new Error(`${stateFile} does not mention ${name}`)
  const bytes = readOrRefuse(place, name)
  if (bytes.length !== record.bytes) {
    const how = bytes.length < record.bytes ? 'it is truncated' : 'something was added to it'
    throw new Error(`${name} has ${bytes.length} bytes instead of ${record.bytes}: ${how}`)
  }
  if (digestOf(bytes).sha256 !== record.sha256)
    throw new Error(`${name} is damaged: its digest is not the one in ${stateFile}`)
  const tensors: Tensors = new Map()
  for (const [tensor, { shape, data }] of parseSafetensors(bytes, join(place, name))) {
    if (!(data instanceof Float32Array)) throw new Error(`${tensor} in ${name} is not of type F32`)
    tensors.set(tensor, { shape, data })
  }
  return tensors
}

/** A policy's shapes and their order follow from its dimensions. An organisation has its own, sorted by name. */
function shapesOf(
  { dimensions }: Pick<CheckpointIdentity, 'dimensions'>,
  parameters: ParameterValues,
): Shapes {
  if (dimensions !== undefined) return parameterShapes(dimensions)
  const named = [...parameters].map(([name, { shape }]) => [name, shape] as const)
  return new Map(named.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function assertHolds(what: string, tensors: Tensors, shapes: Shapes): void {
  try {
    assertShapes(tensors, shapes)
  } catch (error) {
    throw new Error(`${what} does not contain this policy. ${(error as Error).message}`)
  }
}

function readOrRefuse(place: string, name: string): Uint8Array {
  try {
    return readFileSync(join(place, name))
  } catch (error) {
    throw new Error(`${name} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** The moments as tensors named after their weights. */
function momentTensors({ first, second }: AdamState, shapes: Shapes) {
  const tensors = new Map<string, StoredTensor>()
  let offset = 0
  for (const [name, shape] of shapes) {
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

function joinMoments(tensors: Tensors, prefix: string, shapes: Shapes): Float32Array {
  const own = [...tensors].filter(([name]) => name.startsWith(prefix))
  const byParameter: Tensors = new Map(own.map(([name, tensor]) => [name.slice(prefix.length), tensor]))
  assertHolds(`${prefix}* in ${optimizerFile}`, byParameter, shapes)
  const parts = [...shapes.keys()].map((name) => byParameter.get(name)!.data)
  const joined = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}

async function digestInBackground(content: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', content)).toString('hex')
}

export class CheckpointError extends Problem {
  constructor(folder: string, problem: string, options?: ErrorOptions) {
    super(`The checkpoint ${folder} cannot be used: ${problem}.`, options)
  }
}

export class CheckpointWriteError extends Problem {
  constructor(folder: string, contents: ReadonlyMap<string, Uint8Array>, cause: Error) {
    const bytes = [...contents.values()].reduce((sum, { length }) => sum + length, 0)
    super(
      `The checkpoint ${folder} (${bytes} bytes) cannot be written: ${cause.message}. ${remedyOf((cause as NodeJS.ErrnoException).code)}; no partial checkpoint was left behind.`,
      { cause, exitCode: exitCode.disk },
    )
  }
}
