import type { Worth } from '../../evaluation/worth.ts'
import { differenceWithInterval, tokens } from '../display/numbers.ts'

/** Whether training was worth it, in one sentence. */
export function worthSentence({ verdict, difference: mean, low, high, tokens: used }: Worth): string {
  const points = `${differenceWithInterval({ mean, low, high })} points [95 %, paired]`
  const price = `with ${tokens(used.trained)} tokens per question against ${tokens(used.searched)}`
  const than = 'the best fixed graph that a search with as many evaluations found'
  if (verdict === 'better')
    return `Training was worth it: the trained policy is better than ${than}, by ${points}, ${price}.`
  if (verdict === 'worse')
    return `Training was not worth it: the trained policy is worse than ${than}, by ${points}, ${price}.`
  return used.trained < used.searched
    ? `Training was worth it at most for its tokens: the trained policy does not score clearly better than ${than}, ${points}, ${price}.`
    : `Training is not shown to be worth it: the trained policy is not clearly better than ${than}, ${points}, ${price}.`
}
