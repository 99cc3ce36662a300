import { compareFigures, isBelow } from './displayed.ts'

/** One setting of a method, such as self-consistency with k = 5, with its mean tokens per question. */
export interface MeasuredSetting {
  readonly setting: number
  readonly tokens: number
  readonly score: number
}

/**
 * Selects the settings of a method to compare at a token budget: the most expensive one within it, and the cheapest
 * one above it. Ties go to the higher score, then the smaller setting.
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
    /** Share of the budget; also null if the budget is 0. */
    share: within === undefined || budget === 0 ? null : within.tokens / budget,
    above: above?.setting ?? null,
  }
}
