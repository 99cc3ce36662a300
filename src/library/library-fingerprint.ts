import { createHash } from 'node:crypto'
import type { Executor, OuterPrompts, Role } from './library.ts'

/**
 * SHA-256 of the library in one fixed notation: positions instead of keys, so that neither the order of keys
 * nor the language it was written in matters. Roles and workers are in order (the policy's logits follow it);
 * tools and types are sets, which reading the definition has already put in order.
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
