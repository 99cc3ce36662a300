// Diagnostic D1 on TAT-QA: an answer in one line, right or wrong by rules older than the official F1.
import { z } from 'zod'
import { schemaContract } from '../../library/answer-contract.ts'
import type { JsonValue } from '../../library/json-value.ts'
import type { Reference, TatqaReference } from '../benchmarks/reference.ts'
import { scoreD1Tatqa } from '../scoring/d1-tatqa.ts'
import { invalidAnswer, matched } from '../scoring/scorer.ts'
import type { TaskScorer, TaskSet } from '../task-set.ts'

const oneLine = schemaContract({
  name: 'd1-line',
  requirement:
    'The answer is a string of one line: a number followed by its scale (thousand, million, billion or percent) if it ' +
    'has one, a span of text, or several spans separated by semicolons.',
  example: '15.64 percent',
  schema: z.string().regex(/^[^\r\n]*\S[^\r\n]*$/),
})

/** D1 also counts a right answer after an execution failure as wrong, which the answer alone does not show. */
const scorer: TaskScorer<Reference> = {
  version: 'd1-tatqa-1',
  score(answer, reference) {
    const result = asLine(answer, reference)
    return result?.extracted == null ? invalidAnswer : matched(result.scoreCorrect)
  },
  solution(reference) {
    if (reference.kind !== 'tatqa') return undefined
    const answer = lines(reference).find((line) => asLine(line, reference)?.scoreCorrect)
    return answer === undefined ? undefined : { answer }
  },
}

function asLine(answer: JsonValue, reference: Reference) {
  if (typeof answer !== 'string' || reference.kind !== 'tatqa') return undefined
  // The executor's wrapper; what failed on the way is not known here.
  return scoreD1Tatqa(`FINAL: ${answer}`, reference, [])
}

/** A number takes the scale as a suffix, a text does not, and a span may carry one already. */
function lines({ answers, scale }: TatqaReference): readonly string[] {
  return [answers.join('; '), answers.map((answer) => `${answer} ${scale}`).join('; ')]
}

export const d1Tatqa: Pick<TaskSet<Reference>, 'metric' | 'scorer' | 'contractOf'> = {
  metric: 'accuracy',
  scorer,
  contractOf: () => oneLine,
}
