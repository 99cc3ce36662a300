import { lexicalEncoder } from '../../src/encoder/lexical-encoder.ts'
import type { FrozenTextEncoder } from '../../src/encoder/text-encoder.ts'

/** The lexical encoder folded to a few entries, so that networks on it are small. */
export function narrowEncoder(dims: number): FrozenTextEncoder {
  return {
    name: 'narrow',
    fingerprint: `narrow-${dims}`,
    dims,
    async encode(texts) {
      const wide = await lexicalEncoder.encode(texts)
      return wide.map((vector) => {
        const folded = new Float32Array(dims)
        for (const [at, entry] of vector.entries()) folded[at % dims]! += entry
        const length = Math.hypot(...folded) || 1
        return folded.map((entry) => entry / length)
      })
    },
  }
}
