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
import { deriveRandom } from '../../numerics/random.ts'
import type { Reference } from '../../tasks/scoring/reference.ts'
import { referenceScorer } from '../../tasks/scoring/reference-scorer.ts'
import { type TaskSet, TaskSetError, type TaskSplit } from '../../tasks/task-set.ts'
import { arithmeticQuestions } from './arithmetic.ts'
import { choiceQuestions } from './choice.ts'
import { codeQuestions } from './code.ts'
import { Dice } from './dice.ts'
import { sideNotes } from './notes.ts'
import { questionSequence } from './question-sequence.ts'
import type { QuestionMaker } from './synthetic-question.ts'
import { tableArithmeticQuestions } from './table-arithmetic.ts'
import { tableClaimQuestions } from './table-claim.ts'

interface Family {
  readonly makers: readonly QuestionMaker[]
  readonly contract: AnswerContract
}

/** In the order in which they take turns. */
const families = {
  arithmetic: { makers: arithmeticQuestions, contract: numericString },
  choice: { makers: choiceQuestions, contract: optionLabel },
  'table-claim': { makers: tableClaimQuestions, contract: booleanString },
  'table-arithmetic': { makers: tableArithmeticQuestions, contract: numericString },
  code: { makers: codeQuestions, contract: codeString },
} as const satisfies Record<string, Family>

export type SyntheticFamily = keyof typeof families

export const syntheticFamilies = Object.keys(families) as readonly SyntheticFamily[]

export interface SyntheticOptions {
  readonly seed?: number
  /** Number of training questions. */
  readonly train?: number
  /** Number of held-out questions. */
  readonly test?: number
  /** Default: all. Programs need a sandbox: without one, leave out `code`. */
  readonly families?: readonly SyntheticFamily[]
}

/** Our own questions, which need no download. The same seed gives the same questions, however many are requested. */
export function syntheticTaskSet(options: SyntheticOptions = {}): TaskSet<Reference> {
  const { seed, train, test, families: chosen } = checked(options)
  const rounds = Math.ceil(Math.max(train, test) / chosen.length)
  const made = chosen.map((family) => questionSequence(seed, family, families[family].makers, 2 * rounds))
  const solutions = new Map(made.flat().map(({ reference, solution }) => [reference, solution]))

  const split = (parity: 0 | 1, count: number): TaskSplit<Reference> => {
    const examples = Array.from({ length: count }, (_, place) => {
      const turn = place % chosen.length
      const number = 2 * Math.floor(place / chosen.length) + parity
      const { task, reference } = made[turn][number]
      const id = `synthetic-${seed}-${chosen[turn]}-${number}`
      const context = sideNotes(new Dice(deriveRandom(seed, 'side-notes', id)))
      return { task: { id, ...task, ...context, metadata: { family: chosen[turn] } }, reference }
    })
    return {
      tasks: examples.map(({ task }) => task),
      references: new Map(examples.map(({ task, reference }) => [task.id, reference])),
    }
  }

  const roles = paperLibrary.roles.map(({ id }) => id)
  return {
    name: 'synthetic',
    title: 'Synthetic questions',
    metric: 'accuracy',
    library: selectRoles(paperLibrary, roles),
    // Together the families have work for every role. Only programs must be run, which public_code does.
    profile: { id: 'synthetic', roles, tools: ['calculator', 'public_code', 'table_reader'] },
    scorer: { ...referenceScorer(), solution: (reference) => solutions.get(reference) },
    splits: { train: split(0, train), test: split(1, test) },
    selection: { recipe: 'generated', seed, train, test, families: chosen },
    files: [],
    contractOf: (task) => families[familyOf(task)].contract,
  }
}

function familyOf({ id, metadata }: Task): SyntheticFamily {
  const family = metadata['family']
  if (isFamily(family)) return family
  throw new TaskSetError(
    `The task '${id}' does not belong to the synthetic set: its metadata.family must be one of ${syntheticFamilies.join(', ')}.`,
  )
}

function isFamily(name: string): name is SyntheticFamily {
  return Object.hasOwn(families, name)
}

function checked(options: SyntheticOptions): Required<SyntheticOptions> {
  const { seed = 0, train = 200, test = 100, families: chosen = syntheticFamilies } = options
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new TaskSetError(`The seed of the synthetic set must be a whole number, 0 or more, not ${seed}.`)
  for (const [split, count] of Object.entries({ train, test }))
    if (!Number.isSafeInteger(count) || count < 1)
      throw new TaskSetError(
        `The synthetic set needs at least 1 question to ${split}: set ${split} to a whole number, 1 or more, not ${count}.`,
      )
  const known = `Choose from ${syntheticFamilies.join(', ')}, or leave families out for all of them.`
  if (chosen.length === 0) throw new TaskSetError(`The synthetic set needs at least one family. ${known}`)
  const unknown = chosen.find((family) => !isFamily(family))
  if (unknown !== undefined) throw new TaskSetError(`The synthetic set has no family '${unknown}'. ${known}`)
  return { seed, train, test, families: syntheticFamilies.filter((family) => chosen.includes(family)) }
}
