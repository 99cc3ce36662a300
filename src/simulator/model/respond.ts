import type { JsonValue } from '../../library/json-value.ts'
import { deriveRandom } from '../../numerics/random.ts'
import { type Account, analysisText, readSoundness } from './analysis-text.ts'
import { answerKey, fitsForm } from './answer-form.ts'
import { answerOdds, constants, type Heard, isSolving, type Situation, soundness } from './competence.ts'
import type { KnownTasks, Question } from './known-task.ts'
import type { NodeRequest } from './node-request.ts'
import { anybody, profileOf, type RoleProfile } from './role-profile.ts'
import { chooseTool, didWork, payloadFor, readTrial } from './tool-use.ts'
import { answerUnknown } from './unknown-question.ts'

/** The protocol text that answers a node's request. The same for the same seed and request. */
export function respond(request: NodeRequest, tasks: KnownTasks, seed: number): string {
  const question = tasks.find(request.task)
  const random = deriveRandom(seed, 'answer', contentOf(request))
  const draws = { answer: random.uniform(), abstention: random.uniform(), tool: random.uniform() }
  if (question === undefined) return written(request, answerUnknown(request, draws.answer))
  const { kind } = question
  const trial = readTrial(request)
  const tool =
    trial === undefined && !request.again && !request.concise && draws.tool < constants.toolUse
      ? chooseTool(request, kind, random.uniform())
      : undefined
  // A node that is about to use a tool tries what it will conclude if the tool works.
  const situated = situate(request, question, tool === undefined ? trial : { name: tool, worked: true })
  let outcome = draw(situated, draws.answer)
  if (trial?.testsFailed === true && outcome > 0 && random.uniform() < constants.mending) outcome = 0
  const answer = situated.answers[outcome] ?? null
  if (tool !== undefined) return toolRequest(tool, payloadFor(tool, request, question, answer))
  const { role, heard, part } = situated.situation
  const sound = isSolving(role.job) ? outcome === 0 : draws.answer < soundness(situated.situation)
  const said = abstains(situated.situation, sound, draws.abstention) ? null : answer
  const answers = heard.filter((message) => message.answer !== undefined)
  const account: Account = {
    part,
    job: role.job,
    kind,
    question: request.task.question,
    sound,
    toolUsed: trial?.worked === true,
    heard: answers.length,
    agreeing: answers.filter((message) => message.answer === outcome).length,
    concise: request.concise,
  }
  return written(request, { analysis: analysisText(account, random), answer: said })
}

/** What decides the answer: all of the request but the turn that a node is in, so that a tool only ever helps it along. */
function contentOf({ executor, task, answerRequirement, predecessors }: NodeRequest): string {
  return JSON.stringify([executor, task, answerRequirement, predecessors])
}

interface Situated {
  readonly situation: Situation
  /** The right answer, the tempting ones, then others that messages bring. */
  readonly answers: readonly JsonValue[]
  readonly tempting: number
}

function situate(request: NodeRequest, question: Question, tool: Situation['tool']): Situated {
  const { part, id: executor, role } = request.executor
  const answers = [...question.answers]
  const keys = [...question.keys]
  const place = (heard: JsonValue): number | undefined => {
    const answer = restored(heard, question.answers)
    if (answer === undefined || !fitsForm(answer, question.form)) return undefined
    const key = answerKey(answer, question.form)
    if (!keys.includes(key)) {
      keys.push(key)
      answers.push(answer)
    }
    return keys.indexOf(key)
  }
  const situation: Situation = {
    kind: question.kind,
    hardness: question.hardness,
    hasOptions: (question.task.options ?? []).length > 0,
    choices: question.form === 'boolean' ? 2 : question.form === 'label' ? question.task.options!.length : 0,
    part,
    role: part === 'finalizer' || part === 'direct' ? anybody : profileOf(role),
    executor,
    heard: differing(request.predecessors).map((message) => heardFrom(message, place)),
    ...(tool === undefined ? {} : { tool }),
  }
  return { situation, answers, tempting: question.answers.length - 1 }
}

/** The answer that a length budget has cut, if it is one that we know; an answer that is whole, as it is. */
function restored(answer: JsonValue, known: readonly JsonValue[]): JsonValue | undefined {
  const cut = typeof answer === 'string' ? answer.lastIndexOf(' … [cut: ') : -1
  if (cut === -1) return answer
  const start = (answer as string).slice(0, cut)
  const whole = known.filter((one) => typeof one === 'string' && one.startsWith(start))
  return whole.length === 1 ? whole[0] : undefined
}

/** Messages that say the same word for word rest on the same work: they count once. */
function differing(messages: NodeRequest['predecessors']): NodeRequest['predecessors'] {
  const seen = new Set<string>()
  return messages.filter(({ role, analysis, answer }) => {
    const said = JSON.stringify([role, analysis, answer])
    return !seen.has(said) && seen.add(said)
  })
}

function heardFrom(
  { role, granularity, status, analysis, answer, toolObservation }: NodeRequest['predecessors'][number],
  place: (answer: JsonValue) => number | undefined,
): Heard {
  const position = status === 'ok' ? place(answer) : undefined
  const sound = readSoundness(analysis)
  return {
    role: profileOf(role),
    fromGroup: granularity === 'group',
    usedTool: toolObservation !== undefined && didWork(toolObservation),
    ...(position === undefined ? {} : { answer: position }),
    ...(sound === undefined ? {} : { sound }),
  }
}

/** The answer that a uniform draw falls on: below the probability of the right one, that one. */
function draw({ situation, answers, tempting }: Situated, uniform: number): number {
  const odds = answerOdds(situation, tempting, answers.length - 1 - tempting)
  let rest = uniform
  for (const [answer, probability] of odds.entries()) {
    if (rest < probability) return answer
    rest -= probability
  }
  // Beyond the sum: no answer where nothing is tempting, else a matter of rounding.
  return tempting === 0 ? answers.length : tempting
}

function abstains({ part, role, heard }: Situation, sound: boolean, uniform: number): boolean {
  if (part === 'finalizer' || part === 'direct') return false
  const [whenSound, whenNot] = constants.abstention[role.job]
  const relayed = preparesAfterAnswers(role, heard) ? constants.abstentionAfterAnswers : 1
  return uniform < (sound ? whenSound : whenNot) * relayed
}

function preparesAfterAnswers({ job }: RoleProfile, heard: readonly Heard[]): boolean {
  return !isSolving(job) && heard.some(({ answer }) => answer !== undefined)
}

function toolRequest(tool: string, payload: JsonValue): string {
  return JSON.stringify({ kind: 'tool_request', tool_request: { tool, payload } })
}

/** Finalizer and direct path give the bare object, all others wrap it. */
function written({ executor }: NodeRequest, content: { analysis: string; answer: JsonValue }): string {
  const bare = executor.part === 'finalizer' || executor.part === 'direct'
  return JSON.stringify(bare ? content : { kind: 'content', content })
}
