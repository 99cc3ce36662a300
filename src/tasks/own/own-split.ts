import type { JsonObject } from '../../library/json-value.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { DataError } from '../sources/data-error.ts'
import { TaskSetError } from '../task-set.ts'
import type { PlacedQuestion } from './question.ts'

interface NamedQuestion extends PlacedQuestion {
  readonly id: string
}

interface SplitQuestions {
  /** `train` and `test` come first; within a split, the order is that of the source. */
  readonly splits: ReadonlyMap<string, readonly NamedQuestion[]>
  /** How the questions were divided: for the run's record and for display. */
  readonly selection: JsonObject
  readonly note?: string
}

/** Share of training questions if nothing else is specified. */
const trainingShare = 0.7

/** Divides questions by source, else by their field `split`, else by a hash of seed and id. */
export function splitQuestions(questions: readonly PlacedQuestion[], seed: number): SplitQuestions {
  const named = nameQuestions(questions)
  const marked = named.find(({ split }) => split !== undefined)
  const unmarked = named.find(({ split }) => split === undefined)
  if (marked === undefined) return drawSplits(named, seed)
  if (unmarked !== undefined)
    throw new DataError(
      `is missing, but row ${marked.at.row} has one. Set it for all questions or for none.`,
      unmarked.at,
      'split',
    )
  const by = questions.some(({ split }) => split !== undefined) ? 'source' : 'field'
  return { splits: ordered(named), selection: { by } }
}

/** Adds each question's id, and the split of its source or field, if any. */
function nameQuestions(questions: readonly PlacedQuestion[]): NamedQuestion[] {
  const known = new Map<string, PlacedQuestion['at']>()
  return questions.map(({ question, at, split }) => {
    if (split !== undefined && question.split !== undefined && question.split !== split)
      throw new DataError(
        `is '${question.split}', but the question is in the source of '${split}'. Leave the field out.`,
        at,
        'split',
      )
    const id = question.id ?? `${split === undefined ? '' : `${split}-`}q${at.index + 1}`
    const earlier = known.get(id)
    if (earlier !== undefined)
      throw new DataError(`the id '${id}' already occurs in ${earlier.file}, row ${earlier.row}.`, at, 'id')
    known.set(id, at)
    return { question, at, split: split ?? question.split, id }
  })
}

function ordered(members: readonly NamedQuestion[]): Map<string, readonly NamedQuestion[]> {
  const found = Map.groupBy(members, ({ split }) => split!)
  const names = new Set(['train', 'test', ...found.keys()])
  const missing = [...names].find((name) => !found.has(name))
  if (missing !== undefined)
    throw new TaskSetError(
      `No question belongs to the split '${missing}'; the splits are ${[...found.keys()].join(', ')}. ` +
        'Training needs questions to learn from (train) and others to test on (test).',
    )
  return new Map([...names].map((name) => [name, found.get(name)!]))
}

/** Every question has its own draw, so that adding questions later does not move others. */
function drawSplits(members: readonly NamedQuestion[], seed: number): SplitQuestions {
  if (members.length < 2)
    throw new TaskSetError(
      'There is only one question. Give at least two: one to learn from and one to test on.',
    )
  const draws = members.map(({ id }) => deriveRandom(seed, 'own-split', id).uniform())
  const ranked = draws.toSorted((a, b) => a - b)
  const [lowest, highest] = [ranked[0]!, ranked.at(-1)!]
  // With few questions all could end up on one side, so the lowest draw always trains and the highest always tests.
  const isTraining = (draw: number) => draw < highest && (draw < trainingShare || draw === lowest)
  const splits = ordered(
    members.map((member, index) => ({ ...member, split: isTraining(draws[index]!) ? 'train' : 'test' })),
  )
  const [train, test] = [splits.get('train')!.length, splits.get('test')!.length]
  return {
    splits,
    selection: { by: 'hash of id', seed, share: trainingShare },
    note: `No question names its split: ${train} are for training and ${test} held out, by a hash of their ids (seed ${seed}).`,
  }
}
