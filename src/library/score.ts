/** The score of one final answer, the value of the model's `answer` field. Nothing is searched for in its analysis. */
export interface Score {
  /** From zero to one: the reward. */
  readonly score: number
  /** A mismatch is `ok` and zero; an answer that the contract does not allow is `invalid` and zero. */
  readonly parse: 'ok' | 'invalid'
  /** Further measures by name, such as TAT-QA's `em`. */
  readonly measures?: Readonly<Record<string, number>>
  /** Why, where the answer is a program: how its tests ended (docs/sandbox.md, "What a status means"). */
  readonly status?: string
  /** Where a language model has judged: its verdict, which is not asked for again. */
  readonly judge?: { readonly score: number; readonly reason: string }
}

export const invalidAnswer: Score = { score: 0, parse: 'invalid' }

export function matched(match: boolean): Score {
  return { score: match ? 1 : 0, parse: 'ok' }
}
