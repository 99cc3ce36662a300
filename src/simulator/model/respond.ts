import type { JsonValue } from '../../library/json-value.ts'
import { deriveRandom, type Random } from '../../numerics/random.ts'
import { analysisText, readSoundness } from './analysis-text.ts'
import { answerKey, fitsForm } from './answer-form.ts'
import { answerOdds, type Situation, soundness } from './competence.ts'
import { constants } from './constants.ts'
import type { KnownQuestion, KnownTasks } from './known-tasks.ts'
import type { AskedNode, HeardMessage } from './node-request.ts'
import { anybody, prepares, profileOf } from './role-profile.ts'
import { chooseTool, didWork, payloadFor, readTrial } from './tool-use.ts'
import { answerUnknown } from './unknown-question.ts'

/** The analysis given for unknown questions. */
export const unknownQuestion =
  'The simulated model does not know this question; its answer is a guess in the required form.'

/** The reply to a node's request, as protocol text. Deterministic for seed and request. */
export function respond(request: AskedNode, tasks: KnownTasks, seed: number): string {
  const { executor, task, answerRequirement, predecessors, brief } = request
  // Independent of the node's turn, so that a tool can only help.
  const random = deriveRandom(
    seed,
    'answer',
    JSON.stringify([executor, task, answerRequirement, predecessors, ...(isEmpty(brief) ? [] : [brief])]),
  )
  const draws = { answer: random.uniform(), abstention: random.uniform(), tool: random.uniform() }
  const question = tasks.find(task)
  if (question === undefined)
    return contentText(request, unknownQuestion, answerUnknown(request, draws.answer))

  const trial = readTrial(request)
  const mayUseTool = trial === undefined && !request.again && !request.concise
  const tool =
    mayUseTool && draws.tool < constants.toolUse
      ? chooseTool(request, question.kind, random.uniform())
      : undefined
  // A node about to use a tool already has the conclusion in mind that it will reach if the tool works.
  const { situation, answers } = situate(
    request,
    question,
    tool === undefined ? trial : { name: tool, worked: true },
  )
  let outcome = drawAnswer(situation, question.answers.length - 1, answers.length, draws.answer)
  if (trial?.testsFailed === true && outcome > 0 && random.uniform() < constants.mending) outcome = 0
  const answer = answers[outcome] ?? null
  if (tool !== undefined) {
    const payload = payloadFor(tool, task, question.task, answer)
    return JSON.stringify({ kind: 'tool_request', tool_request: { tool, payload } })
  }
  const sound = prepares(situation.role) ? draws.answer < soundness(situation) : outcome === 0
  const analysis = analysisText(request, situation, { answer: outcome, sound }, random)
  const stop = stopWord(request, situation, outcome)
  const also = request.also.includes('ratings') ? { ratings: ratingsOf(request, question, random) } : {}
  const said = abstains(situation, sound, draws.abstention) ? null : answer
  return contentText(request, `${analysis}${stop}`, said, also)
}

/** The word that ends a conversation, if the node agrees with the last answer. */
function stopWord({ brief }: AskedNode, { heard }: Situation, outcome: number): string {
  const word = brief['stop_word']
  const last = heard.findLast(({ answer }) => answer !== undefined)
  return typeof word === 'string' && last?.answer === outcome ? ` ${word}` : ''
}

/** A rating from 1 to 5 for each reply, in order: right ones tend to be high, others low. */
function ratingsOf(request: AskedNode, question: KnownQuestion, random: Random): number[] {
  return request.predecessors.map(({ answer, status }) => {
    const isRight = status === 'ok' && keyOf(answer, question) === question.keys[0]
    return (isRight ? 3 : 1) + Math.floor(3 * random.uniform())
  })
}

/** The key of an answer; undefined if it is not one. */
export function keyOf(answer: JsonValue, { form }: KnownQuestion): string | undefined {
  return fitsForm(answer, form) ? answerKey(answer, form) : undefined
}

function isEmpty(fields: object): boolean {
  return Object.keys(fields).length === 0
}

/** Finalizer and direct path return the bare object; all others wrap it. */
function contentText(
  { executor }: AskedNode,
  analysis: string,
  answer: JsonValue,
  also: object = {},
): string {
  const content = { analysis, answer, ...also }
  return JSON.stringify(decidesAlone(executor.part) ? content : { kind: 'content', content })
}

function decidesAlone(part: Situation['part']): boolean {
  return part === 'finalizer' || part === 'direct'
}

interface Situated {
  readonly situation: Situation
  /** The right answer, the tempting ones, then others from messages. */
  readonly answers: readonly JsonValue[]
}

function situate(request: AskedNode, question: KnownQuestion, tool: Situation['tool']): Situated {
  const { part, id, role } = request.executor
  const { form } = question
  const answers = [...question.answers]
  const keys = [...question.keys]
  const placeOf = (heard: JsonValue): number | undefined => {
    const answer = restored(heard, question.answers)
    if (answer === undefined || !fitsForm(answer, form)) return undefined
    const key = answerKey(answer, form)
    if (!keys.includes(key)) {
      keys.push(key)
      answers.push(answer)
    }
    return keys.indexOf(key)
  }
  const situation: Situation = {
    ...question,
    part,
    role: decidesAlone(part) ? anybody : profileOf(role),
    executor: id,
    tool,
    heard: differing(request.predecessors).map((message) => ({
      answer: message.status === 'ok' ? placeOf(message.answer) : undefined,
      role: profileOf(message.role),
      fromGroup: message.granularity === 'group',
      usedTool: message.toolObservation !== undefined && didWork(message.toolObservation),
      sound: readSoundness(message.analysis),
    })),
  }
  return { situation, answers }
}

/** Restores an answer cut by a length budget, if it is a known one; other answers are unchanged. */
function restored(answer: JsonValue, known: readonly JsonValue[]): JsonValue | undefined {
  if (typeof answer !== 'string') return answer
  const cut = answer.lastIndexOf(' … [cut: ')
  if (cut === -1) return answer
  const start = answer.slice(0, cut)
  const whole = known.filter((one) => typeof one === 'string' && one.startsWith(start))
  return whole.length === 1 ? whole[0] : undefined
}

/** Identical messages rest on the same work, so they count once. */
function differing(messages: readonly HeardMessage[]): readonly HeardMessage[] {
  const said = ({ role, analysis, answer }: HeardMessage) => JSON.stringify([role, analysis, answer])
  return [...Map.groupBy(messages, said).values()].map(([first]) => first)
}

/** The answer selected by a uniform draw; the right one comes first. */
function drawAnswer(situation: Situation, tempting: number, total: number, uniform: number): number {
  let rest = uniform
  for (const [answer, probability] of answerOdds(situation, tempting, total - 1 - tempting).entries()) {
    if (rest < probability) return answer
    rest -= probability
  }
  // Beyond the sum: no answer if nothing is tempting, else a rounding error.
  return tempting === 0 ? total : tempting
}

function abstains({ part, role, heard }: Situation, sound: boolean, uniform: number): boolean {
  if (decidesAlone(part)) return false
  const [whenSound, whenNot] = constants.abstention[role.job]
  const bringsAnswer = prepares(role) && heard.some(({ answer }) => answer !== undefined)
  return uniform < (sound ? whenSound : whenNot) * (bringsAnswer ? constants.abstentionAfterAnswers : 1)
}
