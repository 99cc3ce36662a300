import { compareFigures, isBelow } from './displayed.ts'

/** One setting of a method, such as self-consistency with k = 5, with its mean tokens per question. */
export interface MeasuredSetting {
  readonly setting: number
  readonly tokens: number
  readonly score: number
}

/**
 * Which settings of a method are compared at a budget of tokens: of those that fit the one that uses most of it, and of those
 * that do not the one that passes it least. Of equal tokens the higher score counts, then the smaller setting.
 */
export function matchBudget(budget: number, settings: readonly MeasuredSetting[]) {
  const better = (a: MeasuredSetting, b: MeasuredSetting) =>
    compareFigures(b.score, a.score) || a.setting - b.setting
  const within = settings
    .filter(({ tokens }) => !isBelow(budget, tokens))
    .sort((a, b) => compareFigures(b.tokens, a.tokens) || better(a, b))[0]
  const above = settings
    .filter(({ tokens }) => isBelow(budget, tokens))
    .sort((a, b) => compareFigures(a.tokens, b.tokens) || better(a, b))[0]
  return {
    within: within?.setting ?? null,
    /** Of the budget; null also where there is none to take a share of. */
    share: within === undefined || budget === 0 ? null : within.tokens / budget,
    above: above?.setting ?? null,
  }
}
