import type { FrozenTextEncoder } from './text-encoder.ts'

const remembered = 256

/** Keeps the vectors of recent texts in memory, since a part of every question is the same text. */
export function rememberRecent(encoder: FrozenTextEncoder): FrozenTextEncoder {
  const { name, fingerprint, dims } = encoder
  const known = new Map<string, Promise<Float32Array>>()
  const encode = async (texts: readonly string[]): Promise<Float32Array[]> => {
    const missing = texts.filter((text) => !known.has(text))
    const vectors = missing.length === 0 ? undefined : encoder.encode(missing)
    for (const [place, text] of missing.entries()) {
      const vector = vectors!.then((all) => all[place]!)
      // The current caller gets the failure; the next one tries again.
      vector.catch(() => known.delete(text))
      known.set(text, vector)
    }
    const asked = texts.map((text) => {
      const vector = known.get(text)!
      // The most recently used is last in the map.
      known.delete(text)
      known.set(text, vector)
      return vector
    })
    while (known.size > remembered) known.delete(known.keys().next().value!)
    // Copies, because callers may change their vectors.
    return (await Promise.all(asked)).map((vector) => vector.slice())
  }
  return { name, fingerprint, dims, encode }
}
