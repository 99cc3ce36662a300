import { fileURLToPath } from 'node:url'
import type { Library } from '../library.ts'
import { loadLibrary } from '../yaml-library.ts'

/** The paper's 14 roles with prompts of our own. */
export const paperLibrary: Library = loadLibrary(
  fileURLToPath(new URL('paper-library.yaml', import.meta.url)),
)
