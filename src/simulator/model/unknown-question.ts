import type { JsonValue } from '../../library/json-value.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { type AnswerForm, answerKey, exampleIn, fitsForm, formOfRequirement } from './answer-form.ts'
import { stub } from './broken-program.ts'
import { constants } from './competence.ts'
import type { AskedTask, NodeRequest } from './node-request.ts'
import { numbersIn } from './question-kind.ts'

const confession =
  'The simulated model does not know this question; its answer is a guess in the required form.'

/** An answer to a question that is not in the list: in the required form, and in agreement with most messages. */
export function answerUnknown(
  { task, answerRequirement, predecessors }: NodeRequest,
  uniform: number,
): { analysis: string; answer: JsonValue } {
  const form = formOfRequirement(answerRequirement, {
    question: task.question,
    options: task.options,
    hasTables: task.tables !== '',
    hasProgram: task.program !== undefined,
  })
  const said = predecessors.filter(({ status, answer }) => status === 'ok' && fitsForm(answer, form))
  const answer =
    mostFrequent(
      said.map((message) => message.answer),
      form,
    ) ?? guess(task, candidatesFor(task, form, exampleIn(answerRequirement)), uniform)
  return { analysis: confession, answer }
}

function mostFrequent(answers: readonly JsonValue[], form: AnswerForm): JsonValue | undefined {
  const counts = new Map<string, { answer: JsonValue; count: number }>()
  for (const answer of answers) {
    const key = answerKey(answer, form)
    counts.set(key, { answer, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  const ranked = [...counts.values()].sort((a, b) => b.count - a.count)
  return ranked[0]?.answer
}

/** Some answers are likelier than others, the same ones for everybody who is asked. */
function guess({ question }: AskedTask, candidates: readonly JsonValue[], uniform: number): JsonValue {
  const random = deriveRandom('guess', question)
  const ranked = candidates
    .map((candidate) => ({ candidate, rank: random.uniform() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ candidate }) => candidate)
  const pulls = constants.temptation.slice(0, ranked.length)
  let rest = uniform * pulls.reduce((a, b) => a + b, 0)
  for (const [place, pull] of pulls.entries()) {
    if (rest < pull) return ranked[place]!
    rest -= pull
  }
  return ranked[0]!
}

function candidatesFor(
  { question, options, program }: AskedTask,
  form: AnswerForm,
  example: JsonValue = 'unknown',
): readonly JsonValue[] {
  const numbers = numbersIn(question).map(String)
  switch (form) {
    case 'label': {
      const labels = options.map(({ label }) => label).filter((label) => fitsForm(label, 'label'))
      return labels.length > 0 ? labels : ['A']
    }
    case 'boolean':
      return ['true', 'false']
    case 'number':
      return numbers.length > 0 ? numbers : ['0']
    case 'program':
      return [stub(program)]
    case 'values-and-scale':
      return (numbers.length > 0 ? numbers : ['0']).map((number) => ({ values: [number], scale: '' }))
    case 'text':
    case 'data':
      return [example]
  }
}
