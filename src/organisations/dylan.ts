import { z } from 'zod'
import { answersOf, majorityOf, voteKey } from '../execution/conclusion.ts'
import type { DriveContext, Said } from '../execution/drive.ts'
import type { JsonValue } from '../library/json-value.ts'
import type { Library } from '../library/library.ts'
import { prompt } from '../library/prompt.ts'
import { deriveRandom } from '../numerics/random.ts'
import { shuffled } from '../numerics/shuffled.ts'
import { Problem } from '../problem.ts'
import { findRun } from '../store/run-folder.ts'
import { diversity, type Member, membersOf } from './agents.ts'
import { teamFromTrial } from './dylan-team.ts'
import { defineOrganisation } from './organisation.ts'

/** Replies kept after the ranking. */
const kept = 2

export const dylan = defineOrganisation({
  name: 'dylan',
  category: 'adaptive',
  description:
    'Agents answer in layers and rate each other; a ranking keeps the two best, and agreement ends it early.',
  fidelity: 'released code',
  source: 'Liu et al. (arXiv 2310.02170); SALT-NLP/DyLAN, code/demo/LLMLP.py.',
  differences: [
    'The ranking keeps agents by their index; the released code compares it with the position in the loop.',
    'If a ranking cannot be read, that is recorded and the first two stay; the released code silently picks two at random.',
    'Programs agree if their texts are equal, not by BLEU.',
    'Selecting the team on trial questions is in the paper but not in the code, so it is off unless `teamSelection=paper` is set.',
  ],
  options: z.object({
    agents: z.int().min(2).max(16).optional().describe('number of agents; default: 4, for MMLU 7'),
    rounds: z.int().min(1).max(6).default(3).describe('maximum number of layers'),
    diversity: diversity.default('roles'),
    teamSelection: z
      .enum(['off', 'paper'])
      .default('off')
      .describe('paper: form the team from the roles that were most important on trial questions'),
    trial: z
      .string()
      .optional()
      .describe('for teamSelection=paper: the run whose stored evaluation of a larger dylan is the trial'),
    team: z
      .array(z.string())
      .optional()
      .describe('for teamSelection=paper, from code only: the roles themselves'),
  }),
  drive({ library, profile, seed, runs }, options) {
    const count = options.agents ?? (profile.id === 'mmlu_pro' ? 7 : 4)
    const team =
      options.teamSelection === 'paper' ? selectedTeam(library, count, { ...options, runs }) : undefined
    const members =
      team?.map((role, place) => ({ role, agent: place + 1 })) ?? membersOf(library, count, options.diversity)
    return (context) => run(context, members, options.rounds, seed)
  },
})

function selectedTeam(
  library: Library,
  size: number,
  {
    team,
    trial,
    runs,
  }: { readonly team?: readonly string[]; readonly trial?: string; readonly runs?: string },
): readonly string[] {
  if (team !== undefined) return team
  if (trial !== undefined) return teamFromTrial(findRun(trial, runs), size, library)
  throw new Problem(
    'dylan with teamSelection=paper needs a trial: a run with an evaluation of a larger team, as in dylan:teamSelection=paper:trial=first.',
  )
}

/** Replies by agent index. */
type Layer = ReadonlyMap<number, Said>

async function run(context: DriveContext, members: readonly Member[], rounds: number, seed: number) {
  const layers: Layer[] = []
  let active = [...members.keys()]
  for (let round = 0; round < rounds; round += 1) {
    if (round === 2 && members.length > 3) active = await ranked(context, layers[1]!, seed)
    const order = shuffled(active, deriveRandom(seed, 'dylan', context.task.id, round))
    const { layer, agreed } = await askLayer(context, members, order, layers.at(-1))
    layers.push(layer)
    if (agreed !== undefined) return concluded(context, layers, agreed)
  }
  const answers = answersOf([...layers.at(-1)!.values()].map(({ packet }) => packet))
  return concluded(context, layers, majorityOf(answers, context.task) ?? answers[0])
}

/**
 * Calls the agents in order. Agreement is possible once more than two thirds have answered, so the agents up to that point
 * are called at once and the others one by one.
 */
async function askLayer(
  context: DriveContext,
  members: readonly Member[],
  order: readonly number[],
  before: Layer | undefined,
) {
  const needed = Math.floor((2 / 3) * order.length)
  const hears = [...(before ?? [])].sort(([a], [b]) => a - b).map(([, said]) => said)
  const ask = async (index: number) =>
    [index, await context.agent({ ...members[index]!, hears, ...rates(hears) })] as const
  const layer = new Map(await Promise.all(order.slice(0, needed + 1).map(ask)))
  for (let next = needed + 1; ; next += 1) {
    const agreed = agreement(context, layer, needed)
    if (agreed !== undefined || next >= order.length) return { layer, agreed }
    const [index, said] = await ask(order[next]!)
    layer.set(index, said)
  }
}

function rates(hears: readonly Said[]) {
  if (hears.length === 0) return {}
  return {
    also: {
      ratings: `a list of ${hears.length} whole numbers from 1 to 5: how good each predecessor's reply is, in their order`,
    },
  }
}

/** The answer shared by more than `needed` agents. */
function agreement({ task }: DriveContext, layer: Layer, needed: number): JsonValue | undefined {
  const answers = answersOf([...layer.values()].map(({ packet }) => packet))
  const votes = Map.groupBy(answers, (answer) => voteKey(answer, task))
  return [...votes.values()].find((same) => same.length > needed)?.[0]
}

/** One call picks the best replies, whose agents stay. */
async function ranked(context: DriveContext, layer: Layer, seed: number): Promise<number[]> {
  const order = shuffled(
    [...layer.keys()].sort((a, b) => a - b),
    deriveRandom(seed, 'dylan', context.task.id, 'ranker'),
  )
  const { value } = await context.consult({
    role: 'ranker',
    prompt: prompt(`You compare replies to a question and pick the ${kept} best.`),
    hears: order.map((index) => layer.get(index)!),
    reply: {
      ranking: `a list with the numbers of the ${kept} best predecessors, the best first, counted from 1 in the order of the message`,
    },
    schema: z.object({ ranking: z.array(z.int().min(1).max(order.length)).min(kept) }),
    repair: false,
  })
  const chosen = [...new Set(value?.ranking.slice(0, kept) ?? [])]
  if (chosen.length === kept) return chosen.map((place) => order[place - 1]!)
  context.note('unreadable ranking', true)
  return order.slice(0, kept)
}

/** Records each agent's contribution: in the last layer a share for agreeing, before that the ratings by later agents. */
function concluded(context: DriveContext, layers: readonly Layer[], answer: JsonValue | undefined) {
  const { task } = context
  const agrees = ({ packet }: Said) =>
    answer !== undefined && packet.status === 'ok' && voteKey(packet.answer, task) === voteKey(answer, task)
  const last = [...layers.at(-1)!]
  const agreeing = last.filter(([, said]) => agrees(said)).length
  let current = new Map(last.map(([index, said]) => [index, agrees(said) ? 1 / agreeing : 0]))
  const total = new Map(current)
  for (let round = layers.length - 1; round > 0; round -= 1) {
    const heard = [...layers[round - 1]!.keys()].sort((a, b) => a - b)
    const earlier = new Map(heard.map((index) => [index, 0]))
    for (const [index, said] of layers[round]!) {
      const weights = weightsOf(said, heard.length)
      for (const [place, from] of heard.entries())
        earlier.set(from, earlier.get(from)! + weights[place]! * current.get(index)!)
    }
    current = earlier
    for (const [index, importance] of earlier) total.set(index, (total.get(index) ?? 0) + importance)
  }
  context.note('layers', layers.length)
  context.note(
    'importance',
    Object.fromEntries([...total].sort(([a], [b]) => a - b).map(([index, one]) => [String(index + 1), one])),
  )
  return answer
}

/** If the ratings cannot be read, all weights are equal. */
function weightsOf({ also }: Said, count: number): number[] {
  const ratings = z.array(z.number().min(1).max(5)).length(count).safeParse(also['ratings'])
  if (!ratings.success) return new Array<number>(count).fill(1 / count)
  const sum = ratings.data.reduce((a, b) => a + b, 0)
  return ratings.data.map((rating) => rating / sum)
}
