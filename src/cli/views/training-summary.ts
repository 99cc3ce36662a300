import { relative, resolve } from 'node:path'
import { sameQuestions, sumTokens } from '../../evaluation/run-overview.ts'
import type { BudgetSettings } from '../../settings/budget.ts'
import type { Spent } from '../../store/budget.ts'
import { defaultRunsFolder } from '../../store/run-folder.ts'
import type { TrainingResult } from '../../training/train-options.ts'
import type { UpdateRecord } from '../../training/update-record.ts'
import { commandLines, type DescribedCommand } from '../display/command-lines.ts'
import { duration, money, tokens } from '../display/numbers.ts'
import { factLines, type Lines, type Screen } from '../display/screen.ts'
import { counted } from '../display/terminal-text.ts'
import { printResult } from '../print.ts'
import { meanScore, moneyText } from './training-view.ts'

interface FinishedTraining {
  readonly result: TrainingResult
  readonly updates: readonly UpdateRecord[]
  readonly isSimulated: boolean
  readonly caps: BudgetSettings
}

export function printTraining(training: FinishedTraining, options: { readonly json: boolean }): void {
  printResult(options, trainingJson(training), (screen) => trainingLines(training, screen))
}

function trainingJson({ result, updates, isSimulated }: FinishedTraining): object {
  const { folder, ...rest } = result
  const same = sameQuestions(updates)
  const { calls, input, output } = sumTokens(updates.map(({ reused }) => reused))
  return {
    run: runWord(folder),
    folder,
    simulated: isSimulated,
    ...rest,
    score: {
      /** On the same questions, the first and the last time each was asked. */
      ...{ first: same?.first ?? null, last: same?.last ?? null, questions: same?.questions ?? 0 },
      recent: meanScore(updates) ?? null,
    },
    retries: retriesOf(updates),
    reused: { calls, tokens: input + output },
  }
}

function trainingLines(training: FinishedTraining, screen: Screen): Lines {
  const { result, updates, caps, isSimulated } = training
  const { spent } = result
  const { input, output } = sumTokens(updates.map(({ reused }) => reused))
  const used = [
    counted(spent.calls, 'call'),
    ...(retriesOf(updates) > 0 ? [counted(retriesOf(updates), 'retry', 'retries')] : []),
    `${tokens(spent.input + spent.output)} tokens`,
    `${tokens(input + output)} more reused`,
    moneyText(spent, caps, isSimulated),
    duration(spent.minutes * 60_000),
  ]
  const caveat = `${isSimulated ? 'simulated; ' : ''}measured on training questions while exploring, so not the score that counts`
  const facts: (readonly [name: string, text: string])[] = [
    ['run', runWord(result.folder)],
    ['ended', endText(result, caps)],
    ['', overshootText(result)],
    ['score', scoreText(updates)],
    ['', updates.length === 0 ? '' : caveat],
    ['used', used.join(', ')],
    ['', unknownText(spent)],
    ['stored in', result.folder],
  ]
  return [factLines(facts, screen), '', 'Next:', commandLines(nextSteps(result), screen)]
}

function unknownText({ unknown, unknownAtMost }: Spent): string {
  if (unknown === 0) return ''
  const most = unknownAtMost === undefined ? '' : `: at most ${tokens(unknownAtMost.tokens)} tokens`
  const cost = unknownAtMost?.cost ?? 'unpriced'
  const price = cost === 'unpriced' ? '' : `, ${money(cost)}`
  return `plus ${counted(unknown, 'attempt')} that ended without a token count${most}${price}, counted towards the caps`
}

function retriesOf(updates: readonly UpdateRecord[]): number {
  return updates.reduce((sum, { retries = 0 }) => sum + retries, 0)
}

function scoreText(updates: readonly UpdateRecord[]): string {
  const recent = meanScore(updates)
  if (recent === undefined) return 'none, because no update was made'
  const { gain, query, returns } = updates.at(-1)!
  // A learning system that is not a policy has no returns.
  if (returns.length === 0) return `${recent.mean.toFixed(3)} (mean of the last updates that ran graphs)`
  if (query === undefined) return valuesText(recent.mean, gain)
  const same = sameQuestions(updates)
  if (same === undefined)
    return `${recent.mean.toFixed(3)} (mean of the last ${counted(recent.n, 'update')}; no question came up twice, so there is no earlier score to compare with)`
  return `${same.first.toFixed(3)} → ${same.last.toFixed(3)} on the same ${counted(same.questions, 'question')}, the first and the last time each came up`
}

/** In value learning, an update tries many graphs on many questions; what counts is the gain from choosing per question. */
function valuesText(mean: number, gain: number | undefined): string {
  const recent = `${mean.toFixed(3)} (mean of the last updates)`
  if (gain === undefined) return `${recent}; no graph has been confirmed on all questions yet`
  const points = (100 * gain).toFixed(1)
  return gain > 0
    ? `${recent}; choosing a graph per question gains ${points} points after token costs (cross-validated)`
    : `${recent}; choosing a graph per question gains nothing (cross-validated), so every question gets the best fixed graph`
}

function endText({ status, done, updates, cap }: TrainingResult, caps: BudgetSettings): string {
  if (status === 'finished') return `finished, ${counted(updates, 'update')}`
  const where = `after ${done} of ${counted(updates, 'update')}`
  return cap === undefined
    ? `interrupted ${where}`
    : `stopped ${where} by --max-${cap.name} ${caps[cap.name]}`
}

function overshootText({ cap, spent: { cost } }: TrainingResult): string {
  if (cap === undefined || cap.overshoot === 0) return ''
  const { name, overshoot } = cap
  const amount =
    name === 'cost' && cost !== 'unpriced'
      ? money({ amount: overshoot, currency: cost.currency })
      : name === 'minutes'
        ? duration(overshoot * 60_000)
        : `${tokens(overshoot)} ${overshoot === 1 ? name.slice(0, -1) : name}`
  return `${amount} above it, because work in progress is finished first`
}

function nextSteps({ status, folder, cap }: TrainingResult): DescribedCommand[] {
  const run = runWord(folder)
  if (status === 'finished')
    return [
      [`magic eval ${run} --split test`, 'score it on unseen questions'],
      [`magic show ${run}`, 'learning curves and graphs'],
      [`magic ask ${run} "question"`, 'ask it something'],
    ]
  const resume: DescribedCommand =
    cap === undefined
      ? [`magic resume ${run}`, 'continue']
      : [`magic resume ${run} --max-${cap.name} N`, 'continue with a higher cap']
  return [resume, [`magic show ${run}`, 'progress so far']]
}

/** How to name a run on the command line: by name if it is in the runs folder, otherwise by path. */
export function runWord(folder: string): string {
  const name = relative(resolve(defaultRunsFolder()), folder)
  if (!name.includes('/') && name !== '' && name !== '..') return name
  const path = relative('.', folder)
  return shellWord(path.startsWith('..') ? folder : path.includes('/') ? path : `./${path}`)
}

/** A path, quoted for the shell if necessary. */
export function shellWord(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
