import type { TokenUsage } from '../../models/usage.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { costConstants } from './constants.ts'

export function tokensOf(text: string): number {
  return Math.ceil(text.length / costConstants.charactersPerToken)
}

export function cutTo(text: string, tokens: number): string {
  // Surrogate pairs are not split: a half would not survive UTF-8.
  return text.slice(0, tokens * costConstants.charactersPerToken).replace(/[\ud800-\udbff]$/, '')
}

/** Modelled, not measured. Depends only on the request, not on earlier ones. */
export function usageOf(system: string, user: string, text: string): TokenUsage {
  const { frame, cacheBlock, cacheHits } = costConstants
  const shared = tokensOf(system)
  const hit = deriveRandom('cache', system, user).uniform() < cacheHits
  return {
    input: shared + tokensOf(user) + frame,
    cachedInput: hit ? shared - (shared % cacheBlock) : 0,
    output: tokensOf(text),
  }
}

/** In milliseconds. `latencyMs` is that of a typical answer; 0 means no delay. */
export function latencyOf(latencyMs: number, outputTokens: number, system: string, user: string): number {
  if (latencyMs === 0) return 0
  const { typicalOutput, fixedShare, jitter } = costConstants
  const length = fixedShare + ((1 - fixedShare) * outputTokens) / typicalOutput
  const luck = 1 + jitter * (2 * deriveRandom('latency', system, user).uniform() - 1)
  return latencyMs * length * luck
}
