import { z } from 'zod'
import { answersOf } from '../execution/conclusion.ts'
import type { DriveContext, Said } from '../execution/drive.ts'
import type { JsonObject } from '../library/json-value.ts'
import { roleCalled } from '../library/plain-roles.ts'
import { prompt } from '../library/prompt.ts'
import { atomicRoles } from './agents.ts'
import { defineOrganisation } from './organisation.ts'

const options = z.object({
  strategy: z
    .enum(['beam', 'greedy', 'adaptive'])
    .default('beam')
    .describe('which roles to follow at each step: the best few, the best, or all that score 3 or more'),
  beam: z.int().min(1).max(4).default(2).describe('roles followed by a beam'),
  steps: z.int().min(1).max(8).default(4).describe('maximum length of a chain'),
  calls: z.int().min(1).max(100).default(30).describe('maximum calls for the search'),
  paths: z.int().min(1).max(50).default(20).describe('maximum number of chains to choose from'),
})

/** The adaptive search follows roles with at least this score, or the best if there are none. */
const goodScore = 3

type Path = readonly string[]

export const graphSearch = defineOrganisation({
  name: 'graph-search',
  category: 'adaptive',
  description: 'Plans steps, searches a chain of roles for them by scores of the model, and runs the chain.',
  fidelity: 'adaptation',
  source:
    'Wu et al., Can Graph Learning Improve Planning in LLM-based Agents?; WxxShirley/GNN4TaskPlan, trainfree/graphsearch.py.',
  differences: [
    "Tools of a tool graph become roles; an edge means that one role's output fits the other's input.",
    'Our executor runs the chain and summarizes; the original only plans.',
    'A chain has at most 4 roles.',
  ],
  options,
  drive: (_, settings) => async (context) => {
    const steps = await plan(context, settings.steps)
    const path = await choose(context, await search(context, steps, settings))
    if (path === undefined) return undefined
    let said: Said | undefined
    for (const role of path) said = await context.agent({ role, hears: said === undefined ? [] : [said] })
    const { packet } = await context.summarize([said!])
    return answersOf([packet])[0]
  },
})

async function plan(context: DriveContext, most: number): Promise<readonly string[]> {
  const { value } = await context.consult({
    role: 'planner',
    prompt: prompt(`You plan how a question is to be answered, as a few steps in order.`),
    reply: { steps: `a list of 1 to ${most} short texts, a step each` },
    schema: z.object({ steps: z.array(z.string().min(1)).min(1) }),
  })
  if (value === undefined) context.note('unreadable plan', true)
  return (value?.steps ?? ['Answer the question.']).slice(0, most)
}

/** Depth-first search along the best children of each role, within the limits on calls and paths. */
async function search(
  context: DriveContext,
  steps: readonly string[],
  { strategy, beam, calls, paths: most }: z.output<typeof options>,
): Promise<Path[]> {
  const found: Path[] = []
  let asked = 0
  const follow = async (path: Path): Promise<void> => {
    const children = path.length === steps.length ? [] : childrenOf(context, path)
    if (children.length === 0) return void found.push(path)
    if (asked >= calls) return void (path.length > 0 && found.push(path))
    asked += 1
    const scores = await scored(context, steps, path, children)
    const ranked = children.toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0))
    const good = ranked.filter((role) => (scores[role] ?? 0) >= goodScore).length
    const width = { beam, greedy: 1, adaptive: Math.max(1, good) }[strategy]
    const best = ranked.slice(0, width)
    for (const role of best) if (found.length < most) await follow([...path, role])
  }
  await follow([])
  return found
}

/** Roles that may come next: none twice, and only if the last output fits their input. */
function childrenOf({ library: { space, ...library } }: DriveContext, path: Path): string[] {
  const last = path.at(-1)
  return atomicRoles({ space, ...library }).filter(
    (role) =>
      !path.includes(role) &&
      (last === undefined || space.compatible(space.indexOf(last), space.indexOf(role))),
  )
}

async function scored(
  context: DriveContext,
  steps: readonly string[],
  path: Path,
  children: readonly string[],
): Promise<Readonly<Record<string, number>>> {
  const candidates = children.map((role) => ({
    role,
    description: roleCalled(context.library, role).description,
  }))
  const brief: JsonObject = { steps: [...steps], path: [...path], step: steps[path.length]!, candidates }
  const { value } = await context.consult({
    role: 'scorer',
    prompt: prompt(`You say how well each of the candidates carries out the next step of a plan.`),
    brief,
    reply: { scores: 'an object with a whole number from 1 to 5 for the name of every candidate' },
    schema: z.object({ scores: z.record(z.string(), z.number().min(1).max(5)) }),
  })
  if (value === undefined) context.note('unreadable scores', true)
  return value?.scores ?? {}
}

async function choose(context: DriveContext, paths: readonly Path[]): Promise<Path | undefined> {
  if (paths.length < 2) return paths[0]
  const { value } = await context.consult({
    role: 'chooser',
    prompt: prompt(`You pick the chain of roles that is most likely to answer the question rightly.`),
    brief: { paths: paths.map((path) => [...path]) },
    reply: { choice: 'the number of the best of "paths", counted from 1' },
    schema: z.object({ choice: z.int().min(1).max(paths.length) }),
  })
  if (value === undefined) context.note('unreadable choice', true)
  return paths[(value?.choice ?? 1) - 1]
}
