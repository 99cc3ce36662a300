import { cachedEncoder, embeddingCacheFolder } from './embedding-cache.ts'
import { FileLockError } from './file-lock.ts'
import { HubUnavailableError } from './hub-connection.ts'
import type { HubOptions } from './hub-download.ts'
import { lexicalEncoder } from './lexical-encoder.ts'
import { type MinilmPaths, openMinilmEncoder } from './minilm-encoder.ts'
import { minilmFromFolder, minilmFromHub } from './minilm-files.ts'
import { loadTokenizers } from './minilm-tokenizer.ts'
import { loadOnnxRuntime } from './onnx-runtime.ts'
import { MissingPackageError } from './optional-package.ts'
import type { FrozenTextEncoder } from './text-encoder.ts'

export interface EncoderOptions extends HubOptions {
  /** `auto`: MiniLM where it can be had, else the lexical encoder. The other two insist. */
  readonly encoder?: 'auto' | 'minilm' | 'lexical'
  /** A folder with MiniLM's files. Who names one insists on it. */
  readonly modelFolder?: string
  /** Hears what makes things slower but not wrong. */
  readonly onProblem?: (problem: string) => void
}

export interface ChosenEncoder {
  readonly encoder: FrozenTextEncoder
  /** Which one it is and why: for people, one line. */
  readonly message: string
}

/** The encoder of a run. Fetches MiniLM on first use; its vectors are cached on disk. */
export async function chooseEncoder(options: EncoderOptions = {}): Promise<ChosenEncoder> {
  const choice = options.encoder ?? 'auto'
  if (choice === 'lexical')
    return { encoder: lexicalEncoder, message: 'Text encoder: lexical, as asked for.' }
  const { modelFolder } = options
  if (modelFolder !== undefined) return openCached(async () => minilmFromFolder(modelFolder), options)
  try {
    return await openCached(() => minilmFromHub(options), options)
  } catch (error) {
    if (choice === 'minilm' || !isMatterOfThisMachine(error)) throw error
    return {
      encoder: lexicalEncoder,
      message: `Text encoder: lexical, since all-MiniLM-L6-v2 cannot be had. ${error.message}`,
    }
  }
}

async function openCached(
  locate: () => Promise<MinilmPaths>,
  { environment = process.env, onProblem }: EncoderOptions,
): Promise<ChosenEncoder> {
  // Before 90 MB are fetched that could not be used.
  await Promise.all([loadTokenizers(), loadOnnxRuntime()])
  const encoder = await openMinilmEncoder(await locate())
  return {
    encoder: cachedEncoder(encoder, embeddingCacheFolder(environment), onProblem),
    message: `Text encoder: ${encoder.name}, run by ${encoder.runtime}.`,
  }
}

/** No package, no network, no room, no permission; all else is a fault of ours and must not be hidden. */
function isMatterOfThisMachine(error: unknown): error is Error {
  if ([MissingPackageError, HubUnavailableError, FileLockError].some((kind) => error instanceof kind))
    return true
  return error instanceof Error && 'syscall' in error && 'code' in error
}
