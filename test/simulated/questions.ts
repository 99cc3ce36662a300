import {
  type AnswerContract,
  booleanString,
  codeString,
  numericString,
  optionLabel,
  valuesAndScale,
} from '../../src/library/answer-contract.ts'
import type { KnownTask } from '../../src/simulator/model/known-task.ts'
import type { QuestionKind } from '../../src/simulator/model/question-kind.ts'

/** Questions of one kind with their answers. Passages make some of them long, and therefore hard. */
export function questions(kind: QuestionKind, count: number): KnownTask[] {
  return Array.from({ length: count }, (_, index) => {
    const { task, ...known } = makers[kind](index)
    const passage = Array.from({ length: 75 * (index % 4) }, () => 'and').join(' ')
    return { ...known, task: passage === '' ? task : { ...task, context: [passage] } }
  })
}

export const contractOf: Readonly<Record<QuestionKind, AnswerContract>> = {
  knowledge: optionLabel,
  commonsense: booleanString,
  math: numericString,
  code: codeString,
  'table-arithmetic': valuesAndScale,
  'table-claim': booleanString,
}

const makers: Readonly<Record<QuestionKind, (index: number) => KnownTask>> = {
  knowledge: (index) => ({
    task: {
      id: `knowledge-${index}`,
      question: `Which of these towns lies on the river number ${index}?`,
      options: ['A', 'B', 'C', 'D', 'E'].map((label) => ({ label, text: `Town ${label}` })),
      metadata: {},
    },
    answer: 'ABCDE'[index % 5]!,
  }),
  commonsense: (index) => ({
    task: {
      id: `commonsense-${index}`,
      question: `Could a person of rank ${index} carry a wardrobe?`,
      metadata: {},
    },
    answer: index % 2 === 0 ? 'true' : 'false',
  }),
  math: (index) => ({
    task: {
      id: `math-${index}`,
      question: `A shop sells ${index + 3} boxes with 12 eggs each and loses 5. How many are left?`,
      metadata: {},
    },
    answer: String((index + 3) * 12 - 5),
  }),
  code: (index) => ({
    task: {
      id: `code-${index}`,
      question: `Count the numbers of a list that are at least ${index}.`,
      program: { mode: 'function', starterCode: '', entryPoint: 'count' },
      publicTests: [{ testtype: 'functional', input: `[${index}, ${index - 1}]`, output: '1' }],
      metadata: {},
    },
    answer: `def count(values):\n    # at least, not more than\n    return sum(1 for value in values if value >= ${index})\n`,
  }),
  'table-arithmetic': (index) => ({
    task: {
      id: `table-arithmetic-${index}`,
      question: 'What is the sum of the sales of Basel and Bern?',
      tables: [
        {
          name: `sales-${index}`,
          header: ['Town', 'Sales'],
          rows: [
            ['Basel', String(index + 10)],
            ['Bern', String(index * 2)],
            ['Chur', '7'],
          ],
        },
      ],
      metadata: {},
    },
    answer: { values: [String(index * 3 + 10)], scale: 'thousand' },
  }),
  'table-claim': (index) => ({
    task: {
      id: `table-claim-${index}`,
      question: 'Basel has sold more than Bern.',
      tables: [
        {
          name: `sales-${index}`,
          header: ['Town', 'Sales'],
          rows: [
            ['Basel', String(index * 7)],
            ['Bern', String(index * 7 + (index % 2 === 0 ? -1 : 1))],
          ],
        },
      ],
      metadata: {},
    },
    answer: index % 2 === 0 ? 'true' : 'false',
  }),
}
