import { openToolbox } from '../src/execution/toolbox.ts'
import { numericString } from '../src/library/answer-contract.ts'
import { selectRoles } from '../src/library/define-library.ts'
import { paperLibrary } from '../src/library/paper-library/paper-library.ts'
import type { Task } from '../src/library/task.ts'
import { CallLimit } from '../src/models/call-limit.ts'
import { defaultSettings } from '../src/settings/execution.ts'
import { knownTasks } from '../src/simulator/model/known-task.ts'
import { SimulatedModel } from '../src/simulator/model/simulator.ts'
import { benchmarkProfiles } from '../src/tasks/benchmarks/list.ts'
import type { NumberTextReference } from '../src/tasks/scoring/reference.ts'
import { referenceScorer } from '../src/tasks/scoring/reference-scorer.ts'
import { type ExecutorParts, TaskExecutor } from '../src/tasks/task-executor.ts'
import type { TaskSet, TaskSplit } from '../src/tasks/task-set.ts'

type Story = (a: number, b: number, c: number) => readonly [question: string, answer: number]

const stories: Readonly<Record<string, Story>> = {
  shelf: (a, b, c) => [
    `A shelf holds ${a} books. Mara adds ${b} and lends out ${c}. How many books are on it now?`,
    a + b - c,
  ],
  boxes: (a, b, c) => [
    `A shop gets ${a} boxes of ${b} lamps each; ${c} lamps arrive broken. How many can it sell?`,
    a * b - c,
  ],
  tickets: (a, b, c) => [
    `A ticket costs ${a} coins, a guide book ${b}. What do ${c} visitors pay who buy one of each?`,
    (a + b) * c,
  ],
  garden: (a, b, c) => [
    `A garden is ${a} metres by ${b} metres. A pond takes ${c} square metres of it. How many are left?`,
    a * b - c,
  ],
  ferry: (a, b, c) => [
    `A ferry makes ${a} trips with ${b} cars and ${c} bicycles each. How many vehicles cross in all?`,
    a * (b + c),
  ],
  pages: (a, b, c) => [
    `Ben reads ${a} pages on each of ${b} days and ${c} pages on the day after. How many pages is that?`,
    a * b + c,
  ],
  change: (a, b, c) => [
    `A pen costs ${a} cents. Nora buys ${b} of them and still has ${c} cents. How many cents did she bring?`,
    a * b + c,
  ],
  stairs: (a, b, c) => [
    `A tower has ${a} floors with ${b} steps each. Olu has climbed ${c} steps. How many are still before him?`,
    a * b - c,
  ],
}

const numbers: readonly (readonly [number, number, number])[] = [
  [12, 9, 7],
  [25, 14, 11],
  [38, 6, 19],
  [17, 23, 8],
  [46, 15, 31],
]

const examples = numbers.flatMap((row, index) =>
  Object.entries(stories).map(([name, tell]) => {
    const [question, answer] = tell(...row)
    const task: Task = { id: `${name}-${index}`, question, metadata: { story: name } }
    return { task, reference: { kind: 'number-text', text: String(answer) } as const }
  }),
)

function splitOf(chosen: typeof examples): TaskSplit<NumberTextReference> {
  return {
    tasks: chosen.map(({ task }) => task),
    references: new Map(chosen.map(({ task, reference }) => [task.id, reference])),
  }
}

/**
 * Forty questions in whole numbers, with all stories in both splits: 24 for training, 16 held out. Six of
 * the paper's roles.
 */
export const tinyTaskSet: TaskSet<NumberTextReference> = {
  name: 'tiny',
  title: 'Small sums in words',
  metric: 'accuracy',
  library: selectRoles(paperLibrary, benchmarkProfiles.gsm8k.roles),
  profile: { ...benchmarkProfiles.gsm8k, id: 'tiny' },
  scorer: referenceScorer(),
  splits: { train: splitOf(examples.slice(0, 24)), test: splitOf(examples.slice(24)) },
  selection: { questions: examples.length },
  files: [],
  contractOf: () => numericString,
}

/** Runs graphs on them with the simulated model, which knows all answers, or with other parts. */
export function tinyExecutor(parts: Partial<ExecutorParts> = {}): TaskExecutor {
  return new TaskExecutor({
    set: tinyTaskSet,
    model: new SimulatedModel({ tasks: knownTasks(tinyTaskSet), seed: 1 }),
    tools: openToolbox(),
    settings: defaultSettings,
    limit: new CallLimit(8),
    ...parts,
  })
}
