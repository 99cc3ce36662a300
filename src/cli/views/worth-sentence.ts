import type { Worth } from '../../evaluation/worth.ts'
import { differenceWithInterval, tokens } from '../display/numbers.ts'

/** One sentence on whether training was worth it. */
export function worthSentence({ verdict, difference: mean, low, high, tokens: used }: Worth): string {
  const points = `${differenceWithInterval({ mean, low, high })} points [95 %, paired]`
  const price = `using ${tokens(used.trained)} tokens per question instead of ${tokens(used.searched)}`
  const than = 'the best fixed graph found by a search with as many evaluations'
  if (verdict === 'better')
    return `Training was worth it: the trained policy beats ${than} by ${points}, ${price}.`
  if (verdict === 'worse')
    return `Training was not worth it: the trained policy is worse than ${than}: ${points}, ${price}.`
  return used.trained < used.searched
    ? `Training may have paid off in tokens only: the trained policy does not clearly beat ${than}: ${points}, ${price}.`
    : `It is not clear that training was worth it: the trained policy does not clearly beat ${than}: ${points}, ${price}.`
}
