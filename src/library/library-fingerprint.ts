import { createHash } from 'node:crypto'
import type { Executor, OuterPrompts, Role } from './library.ts'

/**
 * SHA-256 of the library in a fixed notation: positions instead of keys, so that neither key order nor the source
 * language matters. Roles and workers are in order (the policy's logits follow it); tools and types are sets, already
 * sorted when the definition was read.
 */
export function libraryFingerprint(roles: readonly Role[], prompts: OuterPrompts): string {
  const canonical = [
    'magic-library-1',
    prompts.finalizer,
    prompts.direct,
    roles.map(({ id, description, accepts, produces, atomic, group }) => [
      id,
      description,
      accepts ?? null,
      produces,
      atomic ? canonicalExecutor(atomic) : null,
      group ? [group.workers.map(canonicalExecutor), canonicalExecutor(group.aggregator)] : null,
    ]),
  ]
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex')
}

function canonicalExecutor({ id, responsibility, prompt, tools }: Executor): unknown[] {
  return [id, responsibility, prompt, tools]
}
