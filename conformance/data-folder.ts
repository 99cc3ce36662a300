import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The benchmarks' files: beside the folder's collection of cases, or else beside the checkout. */
export function findData(folder: string): string | undefined {
  const candidates = [
    join(folder, '../../data'),
    fileURLToPath(new URL('../../shared/data', import.meta.url)),
  ]
  return candidates.find((candidate) => existsSync(candidate))
}
