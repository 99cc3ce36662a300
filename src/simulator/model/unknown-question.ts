import type { JsonValue } from '../../library/json-value.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { type AnswerForm, answerKey, exampleIn, fitsForm, formOfRequirement } from './answer-form.ts'
import { stub } from './broken-program.ts'
import { constants } from './constants.ts'
import type { AskedNode, AskedTask } from './node-request.ts'
import { numbersIn } from './question-kind.ts'

/** An answer to an unknown question: what most messages say, or else a guess in the required form. */
export function answerUnknown({ task, answerRequirement, predecessors }: AskedNode, draw: number): JsonValue {
  const form = formOfRequirement(answerRequirement, task)
  const said = predecessors.filter(({ status, answer }) => status === 'ok' && fitsForm(answer, form))
  if (said.length > 0)
    return mostFrequent(
      said.map(({ answer }) => answer),
      form,
    )
  return guess(task.question, candidatesFor(task, form, exampleIn(answerRequirement)), draw)
}

/** Of equal answers, the last one is returned. */
function mostFrequent(answers: readonly JsonValue[], form: AnswerForm): JsonValue {
  const alike = [...Map.groupBy(answers, (answer) => answerKey(answer, form)).values()]
  return alike.sort((a, b) => b.length - a.length)[0].at(-1)!
}

/** Some answers are likelier than others, consistently for all nodes. */
function guess(question: string, candidates: readonly JsonValue[], draw: number): JsonValue {
  const random = deriveRandom('guess', question)
  const ranked = candidates
    .map((candidate) => ({ candidate, rank: random.uniform() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ candidate }) => candidate)
  const pulls = constants.temptation.slice(0, ranked.length)
  let rest = draw * pulls.reduce((a, b) => a + b, 0)
  for (const [place, pull] of pulls.entries()) {
    if (rest < pull) return ranked[place]
    rest -= pull
  }
  return ranked[0]
}

function candidatesFor(
  { question, options, program }: AskedTask,
  form: AnswerForm,
  example: JsonValue = 'unknown',
): readonly JsonValue[] {
  const found = numbersIn(question).map(String)
  const numbers = found.length > 0 ? found : ['0']
  switch (form) {
    case 'label': {
      const labels = options.map(({ label }) => label).filter((label) => fitsForm(label, 'label'))
      return labels.length > 0 ? labels : ['A']
    }
    case 'boolean':
      return ['true', 'false']
    case 'number':
      return numbers
    case 'program':
      return [stub(program)]
    case 'values-and-scale':
      return numbers.map((number) => ({ values: [number], scale: '' }))
    case 'text':
    case 'data':
      return [example]
  }
}
