import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, test } from 'vitest'

const shared = new URL('../../shared/', import.meta.url)

/** A path in the folder of shared goldens and data beside the checkout. */
export function sharedPath(...parts: string[]): string {
  return fileURLToPath(new URL(parts.join('/'), shared))
}

/** A suite on shared goldens or data: skipped with a reason if they are missing, but never in CI. */
export function describeShared(name: string, suite: () => void): void {
  if (existsSync(shared)) describe(name, suite)
  else if (process.env.CI === 'true')
    test(name, () => Promise.reject(new Error(`missing ${fileURLToPath(shared)}`)))
  else describe.skip(`${name} (no shared folder beside the checkout)`, suite)
}
