// The simulated model's reply when an organisation asks for a plan, a ranking or a verdict instead of an answer. It
// goes by the names of the requested fields; docs/simulated-model.md lists them.
import type { JsonObject, JsonValue } from '../../library/json-value.ts'
import { deriveRandom, type Random } from '../../numerics/random.ts'
import { controlConstants } from './constants.ts'
import type { KnownQuestion, KnownTasks } from './known-tasks.ts'
import { type AskedControl, type Fields, fieldsOf, fieldText, list } from './node-request.ts'
import { keyOf, respond } from './respond.ts'
import { profileOf } from './role-profile.ts'

/** The reply to a control request, as JSON text. Deterministic for seed and request. */
export function respondToControl(request: AskedControl, tasks: KnownTasks, seed: number): string {
  const { role, task, predecessors, brief, reply } = request
  const random = deriveRandom(seed, 'control', JSON.stringify([role, task, predecessors, brief, reply]))
  const about: About = {
    request,
    random,
    question: tasks.find(task),
    answer: () => answerTo(request, tasks, seed),
  }
  const given = reply.map((field) => [field, valueFor(field, about)] as const)
  return JSON.stringify(Object.fromEntries(given))
}

interface About {
  readonly request: AskedControl
  readonly question: KnownQuestion | undefined
  readonly random: Random
  /** An answer to the task that takes the others' messages into account. */
  readonly answer: () => JsonValue
}

type Field = (about: About) => JsonValue

const fields: Readonly<Record<string, Field>> = {
  // Among those who can speak.
  speaker: (about) => best(candidatesOf(about), (role) => suitOf(role, about)) ?? '',
  scores: (about) =>
    Object.fromEntries(
      candidatesOf(about).map((role) => [role, clamp(Math.round(3 + 2 * suitOf(role, about)), 1, 5)]),
    ),
  choice: (about) => {
    const paths = list(about.request.brief['paths'])
    if (paths.length === 0) return (rankingOf(about)[0] ?? 0) + 1
    const worth = (path: unknown) =>
      list(path).reduce<number>((sum, role) => sum + suitOf(fieldText(role), about), 0)
    return paths.indexOf(best(paths, worth)!) + 1
  },
  ranking: (about) => rankingOf(about).map((place) => place + 1),
  // Plans.
  steps: () => ['Collect what the question gives.', 'Work out the answer.', 'Check the answer.'],
  facts: ({ request }) =>
    request.task.question
      .split(/(?<=[.!?])\s+/)
      .slice(0, 10)
      .map((sentence) => sentence.slice(0, 300)),
  subtasks: ({ request }) => [
    {
      id: 'gather',
      instruction: 'Collect what the question gives.',
      inputs: [],
      outputs: ['given'],
      checks: [gatherCheck(request)],
    },
    {
      id: 'solve',
      instruction: 'Work out the answer.',
      inputs: ['given'],
      outputs: ['solution'],
      checks: [{ criterion: 'The solution answers the question.' }],
    },
  ],
  result: () => 'solution',
  nodes: () => [
    { id: 'plan', role: 'planner', description: 'Says how to go about it.' },
    { id: 'solve', role: 'solver', description: 'Works out a candidate.' },
    { id: 'check', role: 'verifier', description: 'Checks the candidate and writes the answer.' },
  ],
  edges: () => [
    ['plan', 'solve'],
    ['solve', 'check'],
    ['check', 'solve'],
  ],
  source: () => 'plan',
  sink: () => 'check',
  work: () => ({ plan: '', candidate: '' }),
  contract: () => ({
    plan: { reads: [], writes: ['work.plan'] },
    solve: { reads: ['work.plan'], writes: ['work.candidate'] },
    check: { reads: ['work.plan', 'work.candidate'], writes: ['answer'] },
  }),
  // Work.
  path: ({ request }) => fieldText(list(request.brief['writes'])[0]),
  action: () => 'set',
  payload: (about) => {
    const path = fieldText(list(about.request.brief['writes'])[0])
    return path === 'answer' || path.endsWith('.candidate') ? about.answer() : 'Take it step by step.'
  },
  outputs: (about) => {
    const { outputs, result } = about.request.brief
    return Object.fromEntries(
      list(outputs)
        .map(fieldText)
        .map((name) => [name, name === result ? about.answer() : 'What the question gives.']),
    )
  },
  // Verdicts.
  passed: (about) => about.random.uniform() < passing(about),
  advice: () => 'Look again at each step.',
  next: ({ request }) => {
    const choices = list(request.brief['successors']).map(fieldText)
    return choices.find((choice) => choice === 'END') ?? choices[0] ?? 'END'
  },
  // A conversation with a graph of facts: one query, then an answer.
  think: () => 'What the facts say decides it.',
  query: (about) => (hasAsked(about) ? null : about.request.task.question.slice(0, 200)),
  answer: (about) => (about.request.reply.includes('query') && !hasAsked(about) ? null : about.answer()),
}

function valueFor(field: string, about: About): JsonValue {
  return Object.hasOwn(fields, field) ? fields[field]!(about) : 'The simulated model knows no such field.'
}

function gatherCheck({ brief }: AskedControl): JsonObject {
  return brief['checks_in_python'] === true
    ? { python: 'assert len(str(given)) > 0' }
    : { criterion: 'It says something.' }
}

function hasAsked({ request }: About): boolean {
  return list(request.brief['turns']).length > 0
}

function candidatesOf({ request }: About): string[] {
  const spoken = new Set(request.predecessors.map(({ role }) => role))
  const all = list(request.brief['candidates']).map((one) => fieldText(fieldsOf(one)['role']))
  const fresh = all.filter((role) => !spoken.has(role))
  return fresh.length > 0 ? fresh : all
}

/** How well a role suits the question, with some noise. */
function suitOf(role: string, { question, random }: About): number {
  const suit = question === undefined ? 0 : profileOf(role).suits[question.kind]
  return suit + controlConstants.noise * (2 * random.uniform() - 1)
}

/** Positions of the replies, those that look right first. */
function rankingOf({ request, question, random }: About): number[] {
  const looks = request.predecessors.map(({ answer, status }, place) => {
    const isRight = question !== undefined && status === 'ok' && keyOf(answer, question) === question.keys[0]
    return { place, look: (isRight ? controlConstants.discernment : 0) + random.uniform() }
  })
  return looks.sort((a, b) => b.look - a.look).map(({ place }) => place)
}

/** How likely a verifier accepts something: right answers more than wrong ones, and anything else nearly always. */
function passing({ request, question }: About): number {
  const values = Object.values(fieldsOf(request.brief['outputs'] as Fields)) as JsonValue[]
  const keys = question === undefined ? [] : values.flatMap((value) => keyOf(value, question) ?? [])
  const known = keys.filter((key) => question!.keys.includes(key))
  if (known.length === 0) return controlConstants.passes.other
  return known.includes(question!.keys[0]!) ? controlConstants.passes.right : controlConstants.passes.wrong
}

/** Like answering alone, but with the others' messages in view. */
function answerTo(
  { role, task, answerRequirement, predecessors, brief }: AskedControl,
  tasks: KnownTasks,
  seed: number,
): JsonValue {
  const executor = { id: role, role, part: 'direct' } as const
  const usual = { tools: [], tool: '', toolObservation: undefined, again: false, concise: false, also: [] }
  const said = respond({ executor, task, answerRequirement, predecessors, brief, ...usual }, tasks, seed)
  return (JSON.parse(said) as { answer: JsonValue }).answer
}

function best<Item>(items: readonly Item[], worth: (item: Item) => number): Item | undefined {
  return items.map((item) => ({ item, worth: worth(item) })).sort((a, b) => b.worth - a.worth)[0]?.item
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}
