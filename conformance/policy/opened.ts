import type { OpenPolicy, PolicyImplementation, PolicySetup } from './implementation.ts'
import { describeError } from './outcome.ts'
import { type Tolerances, tolerances } from './tolerance.ts'

/** Every implementation, loaded with the same setup. */
export type Opened = readonly { readonly implementation: PolicyImplementation; readonly policy: OpenPolicy }[]

export async function openAll(
  implementations: readonly PolicyImplementation[],
  setup: PolicySetup,
): Promise<Opened> {
  return Promise.all(
    implementations.map(async (implementation) => ({
      implementation,
      policy: await implementation.open(setup),
    })),
  )
}

/** What each implementation gets wrong, by name. If one throws, the others are still checked. */
export function askEach(
  opened: Opened,
  check: (policy: OpenPolicy, allowed: Tolerances) => readonly string[],
): string[] {
  return opened.flatMap(({ implementation: { name, precision }, policy }) => {
    try {
      return check(policy, tolerances[precision]).map((difference) => `${name}: ${difference}`)
    } catch (error) {
      return [`${name}: ${describeError(error)}`]
    }
  })
}
