import { basename, dirname, resolve } from 'node:path'
import { type AnswerContract, contractKinds, freeText } from '../../library/answer-contract.ts'
import { selectRoles } from '../../library/define-library.ts'
import { canonicalJson, type JsonObject, type JsonValue } from '../../library/json-value.ts'
import type { Library } from '../../library/library.ts'
import { paperLibrary } from '../../library/paper-library/paper-library.ts'
import type { Task } from '../../library/task.ts'
import type { DataFile } from '../sources/data-file.ts'
import { type Solution, type TaskSet, TaskSetError, type TaskSplit } from '../task-set.ts'
import { type AnswerKind, inferAnswerKind } from './answer-kind.ts'
import { type JudgeScorer, judgePrompt, judgeScorer } from './judge-scorer.ts'
import { namedPart, namedScorer, type ScorerName, scorerContract } from './named-scorer.ts'
import { givenPart, hiddenPart, publicTask } from './own-example.ts'
import { type GivenProfile, ownProfile } from './own-profile.ts'
import { type GivenScorer, givenScorer, type OwnReference, ownScorer } from './own-scorer.ts'
import { splitQuestions } from './own-split.ts'
import type { PlacedQuestion } from './question.ts'
import { readQuestionFile } from './question-file.ts'

/** Options for a user's questions from files or code. */
export interface OwnTaskOptions {
  /** Lower-case letters, digits, `-` and `_`. Default: derived from the file name. */
  readonly name?: string
  /** The kind of answers. Default: inferred from the questions. */
  readonly answer?: AnswerKind
  /** For numbers: how far an answer may be off, as a share of the right one. Default: 0. */
  readonly tolerance?: number
  /** The available roles. Default: the paper's. */
  readonly library?: Library
  readonly profile?: GivenProfile
  /** Scores answers instead of comparing by kind: a named scorer, a function, or a language model. */
  readonly scorer?: GivenScorer | ScorerName | JudgeScorer
  /** Replaces the kind's answer contract. */
  readonly contract?: AnswerContract
  /** Seed for dividing questions into train and test, if nothing else is specified. Default: 42. */
  readonly seed?: number
}

/** One file whose questions are divided, or one file per split. */
type QuestionFiles =
  | string
  | ({ readonly train: string; readonly test: string } & Readonly<Record<string, string>>)

export interface OwnTaskSet extends TaskSet<OwnReference> {
  /** Absent if contract and scorer are the user's own. */
  readonly answerKind?: AnswerKind
  /** What was decided for the user, one sentence each. */
  readonly notes: readonly string[]
}

/** A task set from question files in JSON Lines or CSV, described in docs/tasks.md. */
export async function ownTaskSet({
  files,
  ...options
}: OwnTaskOptions & { readonly files: QuestionFiles }): Promise<OwnTaskSet> {
  const sources: [split: string | undefined, path: string][] =
    typeof files === 'string' ? [[undefined, files]] : Object.entries(files)
  const questions: PlacedQuestion[] = []
  const read: DataFile[] = []
  for (const [split, path] of sources) {
    const source = await readQuestionFile(path, { split })
    for (const question of source.questions) questions.push(question)
    read.push(source.file)
  }
  return gatherTaskSet(questions, { ...options, name: options.name ?? nameAfter(files) }, read)
}

function nameAfter(files: QuestionFiles): string {
  const path =
    typeof files === 'string' ? basename(files).replace(/\..*$/, '') : basename(dirname(resolve(files.train)))
  const name = path
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+|[-_]+$/g, '')
  return name === '' ? 'questions' : name.slice(0, longestName)
}

const longestName = 64

/** Makes a task set from questions that were already read and checked. */
export function gatherTaskSet(
  questions: readonly PlacedQuestion[],
  options: OwnTaskOptions & { readonly name: string },
  files: readonly DataFile[] = [],
): OwnTaskSet {
  const { name, library = paperLibrary, scorer, seed = 42, tolerance = 0 } = options
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name))
    throw new TaskSetError(
      `The name '${name}' cannot be used. Take lower-case letters, digits, '-' and '_', at most ${longestName}.`,
    )
  if (!(tolerance >= 0 && tolerance < 1))
    throw new TaskSetError(`The tolerance is ${tolerance}; it is a share, from 0 to less than 1.`)
  const divided = splitQuestions(questions, seed)
  // If contract and scorer are the user's own, no kind is needed.
  const named = typeof scorer === 'string' ? scorer : undefined
  const judge = typeof scorer === 'object' && 'judge' in scorer ? scorer : undefined
  const isOpen =
    named !== undefined || judge !== undefined || (options.contract !== undefined && scorer !== undefined)
  const inferred = options.answer !== undefined || isOpen ? undefined : inferAnswerKind(questions)
  const kind = options.answer ?? inferred?.kind
  const contract =
    options.contract ??
    (named !== undefined ? scorerContract(named) : judge !== undefined ? freeText : contractKinds[kind!])
  const solutions = new Map<OwnReference, Solution>()
  const splits: Record<string, TaskSplit<OwnReference>> = {}
  for (const [split, members] of divided.splits) {
    const references = new Map<string, OwnReference>()
    const tasks = members.map((member) => {
      const task = publicTask(member, member.id)
      const { reference, solution } =
        scorer === undefined
          ? hiddenPart(member, task, kind!, tolerance)
          : typeof scorer === 'string'
            ? namedPart(member, task, scorer)
            : givenPart(member, contract)
      references.set(task.id, reference)
      if (solution !== undefined) solutions.set(reference, solution)
      return task
    })
    splits[split] = { tasks, references }
  }
  refuseLeaks(splits)
  const tasks = Object.values(splits).flatMap((split) => split.tasks)
  const profile = ownProfile(name, library, tasks, kind, options.profile)
  return {
    name,
    title: name,
    metric:
      scorer !== undefined && named === undefined ? 'mean score' : kind === 'code' ? 'pass@1' : 'accuracy',
    library: selectRoles(library, profile.roles),
    profile,
    scorer:
      scorer === undefined
        ? ownScorer(solutions)
        : { ...givenScorer(scoringOf(scorer), contract, solutions), judge: judge && judgePrompt(judge) },
    splits,
    selection: { questions: 'own', answer: kind ?? null, split: divided.selection } as JsonObject,
    files,
    contractOf: () => contract,
    answerKind: kind,
    notes: [inferred?.note, divided.note].filter((note) => note !== undefined),
  }
}

function scoringOf(scorer: NonNullable<OwnTaskOptions['scorer']>): GivenScorer {
  if (typeof scorer === 'string') return namedScorer(scorer)
  return typeof scorer === 'object' && 'judge' in scorer ? judgeScorer(scorer) : scorer
}

/** Throws if a held-out question also occurs in training, where it would prove nothing. */
function refuseLeaks(splits: Readonly<Record<string, TaskSplit>>): void {
  const content = ({ id: _, metadata: __, ...shown }: Task) => canonicalJson(shown as unknown as JsonValue)
  const learned = new Map(splits['train']!.tasks.map((task) => [content(task), task.id]))
  for (const [split, { tasks }] of Object.entries(splits)) {
    if (split === 'train') continue
    const leaked = tasks.find((task) => learned.has(content(task)))
    if (leaked !== undefined)
      throw new TaskSetError(
        `The question '${leaked.id}' of the split '${split}' also occurs in train, as '${learned.get(content(leaked))}'. ` +
          'Remove one of them, or put both into one split.',
      )
  }
}
