/** The score of a final answer, which is the model's `answer` field. The analysis is never searched for an answer. */
export interface Score {
  /** From zero to one: the reward. */
  readonly score: number
  /** A wrong answer is `ok` with score zero; one that violates the contract is `invalid` with score zero. */
  readonly parse: 'ok' | 'invalid'
  /** Further measures by name, such as TAT-QA's `em`. */
  readonly measures?: Readonly<Record<string, number>>
  /** For programs: how the tests ended (docs/sandbox.md, "What a status means"). */
  readonly status?: string
  /** The verdict of a language model as judge, which is not requested again. */
  readonly judge?: { readonly score: number; readonly reason: string }
}

export const invalidAnswer: Score = { score: 0, parse: 'invalid' }

export function matched(match: boolean): Score {
  return { score: match ? 1 : 0, parse: 'ok' }
}
