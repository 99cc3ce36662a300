import type { JsonObject } from '../../library/json-value.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { DataError } from '../sources/data-error.ts'
import { TaskSetError } from '../task-set.ts'
import type { PlacedQuestion } from './question.ts'

export interface NamedQuestion extends PlacedQuestion {
  readonly id: string
}

interface SplitQuestions {
  /** `train` and `test` first; in a split the order is that of the source. */
  readonly splits: ReadonlyMap<string, readonly NamedQuestion[]>
  /** How it was done: for the record of a run, and for people. */
  readonly selection: JsonObject
  readonly note?: string
}

/** The share of questions that are learned from where nothing says which. */
const trainingShare = 0.7

/** Divides questions by their sources, else by their field `split`, else by a hash of seed and id. */
export function splitQuestions(questions: readonly PlacedQuestion[], seed: number): SplitQuestions {
  const named = nameQuestions(questions)
  if (named.some(({ split }) => split !== undefined))
    return { splits: ordered(named, ({ split }) => split!), selection: { by: 'source' } }
  const marked = named.find(({ question }) => question.split !== undefined)
  if (marked !== undefined) {
    const unmarked = named.find(({ question }) => question.split === undefined)
    if (unmarked !== undefined)
      throw new DataError(
        `is missing, but row ${marked.at.row} has one. Give it to all questions or to none.`,
        unmarked.at,
        'split',
      )
    return { splits: ordered(named, ({ question }) => question.split!), selection: { by: 'field' } }
  }
  return drawSplits(named, seed)
}

function nameQuestions(questions: readonly PlacedQuestion[]): NamedQuestion[] {
  const known = new Map<string, PlacedQuestion>()
  return questions.map((placed) => {
    const { question, at, split } = placed
    if (split !== undefined && question.split !== undefined && question.split !== split)
      throw new DataError(
        `is '${question.split}', but the question stands among those of '${split}'. Leave the field out.`,
        at,
        'split',
      )
    const id = question.id ?? `${split === undefined ? '' : `${split}-`}q${at.index + 1}`
    const earlier = known.get(id)?.at
    if (earlier !== undefined)
      throw new DataError(`the id '${id}' is that of ${earlier.file}, row ${earlier.row} already.`, at, 'id')
    known.set(id, placed)
    return { ...placed, id }
  })
}

function ordered(
  members: readonly NamedQuestion[],
  splitOf: (member: NamedQuestion) => string,
): Map<string, readonly NamedQuestion[]> {
  const found = Map.groupBy(members, splitOf)
  const names = ['train', 'test', ...[...found.keys()].filter((name) => name !== 'train' && name !== 'test')]
  const missing = names.find((name) => !found.has(name))
  if (missing !== undefined)
    throw new TaskSetError(
      `No question belongs to the split '${missing}'; the splits are ${[...found.keys()].join(', ')}. ` +
        'Training needs questions to learn from (train) and others to test on (test).',
    )
  return new Map(names.map((name) => [name, found.get(name)!]))
}

/** Every question has its own draw, so that adding questions later does not move it. */
function drawSplits(members: readonly NamedQuestion[], seed: number): SplitQuestions {
  if (members.length < 2)
    throw new TaskSetError(
      'There is only one question. Give at least two: one to learn from and one to test on.',
    )
  const draws = members.map(({ id }) => deriveRandom(seed, 'own-split', id).uniform())
  const ranked = draws.toSorted((a, b) => a - b)
  // With few questions all could fall on one side: the lowest draw always trains, the highest always tests.
  const isTraining = (draw: number) => draw < ranked.at(-1)! && (draw < trainingShare || draw === ranked[0])
  const train = members.filter((_, index) => isTraining(draws[index]!))
  const test = members.filter((_, index) => !isTraining(draws[index]!))
  return {
    splits: new Map([
      ['train', train],
      ['test', test],
    ]),
    selection: { by: 'hash of id', seed, share: trainingShare },
    note:
      `No question names its split: by a hash of their ids (seed ${seed}) ${train.length} are learned from ` +
      `and ${test.length} held out.`,
  }
}
