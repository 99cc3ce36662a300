import type { GraphScore } from './update.ts'

/** How many candidates are evaluated, on the first how many questions. */
export interface HalvingRound {
  readonly candidates: number
  readonly questions: number
}

/** Share of the questions per round. As the candidates are halved each time, all rounds cost about the same. */
const usualShares = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1]

/**
 * The rounds of the largest search within `evaluations`. Empty if that is not enough to compare two candidates on all
 * questions.
 */
export function halvingRounds(
  questions: number,
  evaluations: number,
  shares: readonly number[] = usualShares,
): HalvingRound[] {
  const prefixes = [...new Set(shares.map((share) => Math.max(1, Math.round(share * questions))))]
  const roundsOf = (candidates: number) =>
    prefixes.map((prefix, round) => ({
      candidates: Math.max(2, Math.floor(candidates / 2 ** round)),
      questions: prefix,
    }))
  let candidates = evaluations
  while (candidates > 1 && evaluationsOf(roundsOf(candidates)) > evaluations) candidates -= 1
  return candidates > 1 ? roundsOf(candidates) : []
}

/** Evaluations that the rounds need at most. Questions of earlier rounds are not evaluated again. */
export function evaluationsOf(rounds: readonly HalvingRound[]): number {
  let sum = 0
  for (const [position, { candidates, questions }] of rounds.entries())
    sum += candidates * (questions - (rounds[position - 1]?.questions ?? 0))
  return sum
}

/** A candidate with its total score and tokens on the questions so far. */
export interface Contender<Candidate> {
  readonly candidate: Candidate
  readonly score: number
  readonly tokens: number
}

/**
 * Finds the best of many candidates by successive halving: all of them on a few questions, the better half on twice
 * as many, until the remaining ones are compared on all questions. The higher score wins, then fewer tokens, then the
 * earlier position. `evaluate` gets a whole round at once.
 */
export async function successiveHalving<Candidate, Question>(
  candidates: readonly Candidate[],
  questions: readonly Question[],
  rounds: readonly HalvingRound[],
  evaluate: (pairs: readonly (readonly [Candidate, Question])[]) => Promise<readonly GraphScore[]>,
): Promise<Contender<Candidate>> {
  let contenders: Contender<Candidate>[] = candidates.map((candidate) => ({
    candidate,
    score: 0,
    tokens: 0,
  }))
  let seen = 0
  for (const round of rounds) {
    const fresh = questions.slice(seen, round.questions)
    const kept = contenders.slice(0, round.candidates)
    const scores = await evaluate(
      kept.flatMap(({ candidate }) => fresh.map((question) => [candidate, question] as const)),
    )
    contenders = kept
      .map(({ candidate, score, tokens }, place) => {
        const own = scores.slice(place * fresh.length, (place + 1) * fresh.length)
        return {
          candidate,
          score: own.reduce((sum, one) => sum + one.score, score),
          tokens: own.reduce((sum, one) => sum + (one.usage?.tokens ?? 0), tokens),
        }
      })
      .toSorted((a, b) => b.score - a.score || a.tokens - b.tokens)
    seen = round.questions
  }
  return contenders[0]!
}
