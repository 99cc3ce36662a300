import { numericString } from '../../src/library/answer-contract.ts'
import { paperLibrary } from '../../src/library/paper-library/paper-library.ts'
import type { Task } from '../../src/library/task.ts'
import { deriveRandom } from '../../src/numerics/random.ts'
import type { NumberTextReference } from '../../src/tasks/scoring/reference.ts'
import { referenceScorer } from '../../src/tasks/scoring/reference-scorer.ts'
import type { TaskSet } from '../../src/tasks/task-set.ts'

/**
 * As many training questions as a run has updates, so that none comes up twice except as a probe. All fourteen roles, because fewer
 * would make identical requests likelier, and no tools, so that only calls take time.
 */
export function trainingQuestions(count: number): TaskSet<NumberTextReference> {
  const examples = Array.from({ length: count }, (_, index) => example(index))
  return {
    name: 'bench',
    title: 'Small sums in words',
    metric: 'accuracy',
    library: paperLibrary,
    profile: { id: 'bench', roles: paperLibrary.roles.map(({ id }) => id), tools: [] },
    scorer: referenceScorer(),
    splits: {
      train: {
        tasks: examples.map(({ task }) => task),
        references: new Map(examples.map(({ task, reference }) => [task.id, reference])),
      },
    },
    selection: { questions: count },
    files: [],
    contractOf: () => numericString,
  }
}

function example(index: number): { task: Task; reference: NumberTextReference } {
  const random = deriveRandom('bench-question', index)
  const [boxes, lamps, broken] = [11, 12, 3].map((least) => least + Math.floor(random.uniform() * 40))
  const question = `A shop gets ${boxes} boxes of ${lamps} lamps each; ${broken} lamps arrive broken. How many can it sell?`
  return {
    task: { id: `lamps-${index}`, question, metadata: {} },
    reference: { kind: 'number-text', text: String(boxes! * lamps! - broken!) },
  }
}
