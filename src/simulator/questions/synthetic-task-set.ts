import type { Reference } from '../../benchmarks/reference.ts'
import {
  type AnswerContract,
  booleanString,
  codeString,
  numericString,
  optionLabel,
} from '../../library/answer-contract.ts'
import { selectRoles } from '../../library/define-library.ts'
import { paperLibrary } from '../../library/paper-library/paper-library.ts'
import type { Task } from '../../library/task.ts'
import { referenceScorer } from '../../tasks/reference-scorer.ts'
import { type Solution, type TaskSet, TaskSetError, type TaskSplit } from '../../tasks/task-set.ts'
import { arithmetic } from './arithmetic.ts'
import { choice } from './choice.ts'
import { code } from './code.ts'
import { questionSequence } from './question-sequence.ts'
import type { QuestionMaker, SyntheticQuestion } from './synthetic-question.ts'
import { tableArithmetic } from './table-arithmetic.ts'
import { tableClaim } from './table-claim.ts'

/** In the order in which they take turns. */
export const syntheticFamilies = ['arithmetic', 'choice', 'table-claim', 'table-arithmetic', 'code'] as const

export type SyntheticFamily = (typeof syntheticFamilies)[number]

export interface SyntheticOptions {
  readonly seed?: number
  /** How many questions to learn from. */
  readonly train?: number
  /** How many questions to hold out. */
  readonly test?: number
  /** All by default. Programs need a sandbox: where there is none, leave out `code`. */
  readonly families?: readonly SyntheticFamily[]
}

const makers: Readonly<Record<SyntheticFamily, readonly QuestionMaker[]>> = {
  arithmetic,
  choice,
  'table-claim': tableClaim,
  'table-arithmetic': tableArithmetic,
  code,
}

const contracts: Readonly<Record<SyntheticFamily, AnswerContract>> = {
  arithmetic: numericString,
  choice: optionLabel,
  'table-claim': booleanString,
  'table-arithmetic': numericString,
  code: codeString,
}

/** Questions in our own words that need no download. The same seed gives the same questions, however many are asked for. */
export function syntheticTaskSet(options: SyntheticOptions = {}): TaskSet<Reference> {
  const { seed, train, test, families } = checked(options)
  const solutions = new WeakMap<Reference, Solution>()
  const needed = (count: number) => Math.ceil(count / families.length)
  const sequences = new Map(
    families.map((family) => [
      family,
      questionSequence(seed, family, makers[family], Math.max(2 * needed(train), 2 * needed(test))),
    ]),
  )

  const split = (parity: 0 | 1, count: number): TaskSplit<Reference> => {
    const numbered = Array.from({ length: count }, (_, place) => {
      const family = families[place % families.length]!
      const number = 2 * Math.floor(place / families.length) + parity
      return { id: `synthetic-${seed}-${family}-${number}`, family, made: sequences.get(family)![number]! }
    })
    for (const { made } of numbered) solutions.set(made.reference, made.solution)
    return {
      tasks: numbered.map(({ id, family, made }) => taskOf(id, family, made)),
      references: new Map(numbered.map(({ id, made }) => [id, made.reference])),
    }
  }

  const roles = paperLibrary.roles.map(({ id }) => id)
  const scorer = referenceScorer()
  return {
    name: 'synthetic',
    title: 'Synthetic questions',
    metric: 'accuracy',
    library: selectRoles(paperLibrary, roles),
    // Between them the families have something for every role and every tool.
    // Nothing here needs a program of one's own but the programs themselves, which public_code runs.
    profile: { id: 'synthetic', roles, tools: ['calculator', 'public_code', 'table_reader'] },
    scorer: { ...scorer, solution: (reference) => solutions.get(reference) ?? scorer.solution?.(reference) },
    splits: { train: split(0, train), test: split(1, test) },
    selection: { recipe: 'generated', seed, train, test, families },
    files: [],
    contractOf: (task) => contracts[familyOf(task)],
  }
}

function taskOf(id: string, family: SyntheticFamily, { task }: SyntheticQuestion): Task {
  return { id, ...task, metadata: { family } }
}

function familyOf({ id, metadata }: Task): SyntheticFamily {
  const family = metadata['family']
  if (isFamily(family)) return family
  throw new TaskSetError(
    `The task '${id}' is none of the synthetic set: its metadata.family must be one of ${syntheticFamilies.join(', ')}.`,
  )
}

function isFamily(name: unknown): name is SyntheticFamily {
  return (syntheticFamilies as readonly unknown[]).includes(name)
}

function checked({
  seed = 0,
  train = 200,
  test = 100,
  families = syntheticFamilies,
}: SyntheticOptions): Required<SyntheticOptions> {
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new TaskSetError(`The seed of the synthetic set must be a whole number from 0 on, not ${seed}.`)
  for (const [split, count] of Object.entries({ train, test }))
    if (!Number.isSafeInteger(count) || count < 1)
      throw new TaskSetError(
        `The synthetic set needs at least 1 question to ${split}: give ${split} a whole number from 1 on, not ${count}.`,
      )
  const known = `Choose from ${syntheticFamilies.join(', ')}, or leave families out for all of them.`
  if (families.length === 0) throw new TaskSetError(`The synthetic set needs at least one family. ${known}`)
  const unknown = families.find((family) => !isFamily(family))
  if (unknown !== undefined)
    throw new TaskSetError(`The synthetic set has no family '${String(unknown)}'. ${known}`)
  return { seed, train, test, families: syntheticFamilies.filter((family) => families.includes(family)) }
}
