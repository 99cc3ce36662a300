import { MissingPackageError } from '../optional-package.ts'
import { FileLockError } from '../store/file-lock.ts'
import { cachedEncoder, embeddingCacheFolder } from './embedding-cache.ts'
import { type HubOptions, HubUnavailableError } from './hub-file.ts'
import { lexicalEncoder } from './lexical-encoder.ts'
import { openMinilmEncoder } from './minilm-encoder.ts'
import { minilmFromFolder, minilmFromHub } from './minilm-files.ts'
import { loadTokenizers } from './minilm-tokenizer.ts'
import { loadOnnxRuntime } from './onnx-runtime.ts'
import type { FrozenTextEncoder } from './text-encoder.ts'

export interface EncoderOptions extends HubOptions {
  /** `auto`: MiniLM if available, else the lexical encoder. The other two never fall back. */
  readonly encoder?: 'auto' | 'minilm' | 'lexical'
  /** A folder with MiniLM's files; there is no fallback. */
  readonly modelFolder?: string
  /** Called with problems that only make encoding slower. */
  readonly onProblem?: (problem: string) => void
}

export interface ChosenEncoder {
  readonly encoder: FrozenTextEncoder
  /** One line for display: which encoder, and why. */
  readonly message: string
}

/** The encoder of a run. Downloads MiniLM on first use and caches its vectors on disk. */
export async function chooseEncoder(options: EncoderOptions = {}): Promise<ChosenEncoder> {
  const { encoder: choice = 'auto', modelFolder } = options
  if (choice === 'lexical')
    return { encoder: lexicalEncoder, message: 'Text encoder: lexical, as requested.' }
  try {
    return await openMinilm(options)
  } catch (error) {
    if (choice === 'minilm' || modelFolder !== undefined || !isLackOfThisMachine(error)) throw error
    return {
      encoder: lexicalEncoder,
      message: `Text encoder: lexical, because all-MiniLM-L6-v2 is not available. ${error.message}`,
    }
  }
}

async function openMinilm(options: EncoderOptions): Promise<ChosenEncoder> {
  const { environment = process.env, modelFolder, onProblem } = options
  // Checked first: without these packages, downloading 90 MB would be pointless.
  await Promise.all([loadTokenizers(), loadOnnxRuntime()])
  const paths = modelFolder === undefined ? await minilmFromHub(options) : minilmFromFolder(modelFolder)
  const encoder = await openMinilmEncoder(paths)
  return {
    encoder: cachedEncoder(encoder, embeddingCacheFolder(environment), onProblem),
    message: `Text encoder: ${encoder.name}, run by ${encoder.runtime}.`,
  }
}

/** A missing package, network, disk space or permission. Anything else is our own bug and must not be hidden. */
function isLackOfThisMachine(error: unknown): error is Error {
  const kinds = [MissingPackageError, HubUnavailableError, FileLockError]
  return kinds.some((kind) => error instanceof kind) || (error instanceof Error && 'syscall' in error)
}
