import { relative, resolve } from 'node:path'
import { sameQuestions, sumTokens } from '../../evaluation/run-overview.ts'
import type { BudgetSettings } from '../../settings/budget.ts'
import type { Spent } from '../../store/budget.ts'
import { defaultRunsFolder } from '../../store/run-folder.ts'
import type { TrainingResult } from '../../training/train-options.ts'
import type { UpdateRecord } from '../../training/update-record.ts'
import { duration, money, tokens } from '../display/numbers.ts'
import { factLines, type Screen, shownText } from '../display/screen.ts'
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
  printResult(
    options,
    () => trainingJson(training),
    (screen) => trainingText(training, screen),
  )
}

/** The end of a training as data. */
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
      /** On the same questions, when each was asked first and last. */
      ...{ first: same?.first ?? null, last: same?.last ?? null, questions: same?.questions ?? 0 },
      recent: meanScore(updates) ?? null,
    },
    retries: retriesOf(updates),
    reused: { calls, tokens: input + output },
  }
}

/** The end of a training for people, and where to look next. */
function trainingText(training: FinishedTraining, screen: Screen): string {
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
  const caveat = `${isSimulated ? 'simulated, and ' : ''}on the questions it learns from, while exploring`
  const facts: (readonly [name: string, text: string])[] = [
    ['run', runWord(result.folder)],
    ['ended', endText(result, caps)],
    ['', overshootText(result)],
    ['score', scoreText(updates)],
    ['', updates.length === 0 ? '' : caveat],
    ['used', used.join(', ')],
    ['', unknownText(spent)],
    ['kept in', result.folder],
  ]
  return screen.text([factLines(facts, screen), '', 'Next:', stepLines(nextSteps(result))])
}

function unknownText({ unknown, unknownAtMost }: Spent): string {
  if (unknown === 0) return ''
  const most = unknownAtMost === undefined ? '' : `; at most ${tokens(unknownAtMost.tokens)} tokens`
  const cost = unknownAtMost?.cost ?? 'unpriced'
  const price = cost === 'unpriced' ? '' : `, ${money(cost)}`
  return `and whatever ${counted(unknown, 'attempt')} used that ended without a token count${most}${price}, which caps count`
}

function retriesOf(updates: readonly UpdateRecord[]): number {
  return updates.reduce((sum, { retries = 0 }) => sum + retries, 0)
}

function scoreText(updates: readonly UpdateRecord[]): string {
  const recent = meanScore(updates)
  if (recent === undefined) return 'none: no update was done'
  const { gain, query, returns } = updates.at(-1)!
  // Of a system that is no policy, which has no returns.
  if (returns.length === 0) return `${recent.mean.toFixed(3)} (mean of the last updates that ran graphs)`
  if (query === undefined) return valuesText(recent.mean, gain)
  const same = sameQuestions(updates)
  if (same === undefined)
    return `${recent.mean.toFixed(3)} (mean of the last ${counted(recent.n, 'update')}; no question was asked twice, so there is nothing to compare it with)`
  return `${same.first.toFixed(3)} → ${same.last.toFixed(3)} on the same ${counted(same.questions, 'question')}, the first and the last time that each was asked`
}

/** By values updates are about many questions, and their looks about many graphs: what counts is what the choice gains. */
function valuesText(mean: number, gain: number | undefined): string {
  const looks = `${mean.toFixed(3)} (mean of what was looked at in the last updates)`
  if (gain === undefined) return `${looks}; no graph was confirmed on all questions yet`
  const points = (100 * gain).toFixed(1)
  return gain > 0
    ? `${looks}; choosing a graph per question gains ${points} points, tokens taken off, on questions left out in turn`
    : `${looks}; choosing per question gains nothing on questions left out in turn, so all get the best fixed graph`
}

function endText({ status, done, updates, cap }: TrainingResult, caps: BudgetSettings): string {
  if (status === 'finished') return `finished, ${counted(updates, 'update')}`
  const where = `after ${done} of ${counted(updates, 'update')}`
  return cap === undefined
    ? `interrupted ${where}`
    : `stopped ${where}, at the cap --max-${cap.name} ${caps[cap.name]}`
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
  return `${amount} above it, since an update is always finished`
}

type Step = readonly [command: string, what: string]

function nextSteps({ status, folder, cap }: TrainingResult): Step[] {
  const run = runWord(folder)
  if (status === 'finished')
    return [
      [`magic eval ${run} --split test`, 'score it on questions it has not seen'],
      [`magic show ${run}`, 'curves, and the graphs it builds'],
      [`magic ask ${run} "question"`, 'ask it'],
    ]
  const resume: Step =
    cap === undefined
      ? [`magic resume ${run}`, 'continue from there']
      : [`magic resume ${run} --max-${cap.name} N`, 'continue, with N above the old cap']
  return [resume, [`magic show ${run}`, 'how far it has come']]
}

/** Commands, and beside each what it does. */
export function stepLines(steps: readonly Step[]): string[] {
  const width = Math.max(...steps.map(([command]) => command.length))
  return steps.map(([command, what]) => `  ${shownText(command).padEnd(width)}  ${what}`.trimEnd())
}

/** How a command line names a run: by its name where runs are looked for, else by its path. */
export function runWord(folder: string): string {
  const name = relative(resolve(defaultRunsFolder()), folder)
  if (!name.includes('/') && name !== '' && name !== '..') return name
  const path = relative('.', folder)
  return shellWord(path.startsWith('..') ? folder : path.includes('/') ? path : `./${path}`)
}

/** A path as the shell takes it. */
export function shellWord(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
