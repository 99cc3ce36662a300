import { z } from 'zod'
import type { DriveContext } from '../execution/drive.ts'
import type { JsonObject, JsonValue } from '../library/json-value.ts'
import { prompt } from '../library/prompt.ts'
import { defineOrganisation } from './organisation.ts'

const options = z.object({
  nodes: z.int().min(1).max(12).default(6).describe('maximum number of nodes'),
  steps: z.int().min(1).max(50).default(10).describe('maximum number of node turns'),
  corrections: z.int().min(0).max(5).default(2).describe('how often a node may correct a rejected write'),
})

type Settings = z.output<typeof options>

export const bigmas = defineOrganisation({
  name: 'bigmas',
  category: 'adaptive',
  description:
    'The model designs a directed graph per question; nodes talk through a shared workspace, and an orchestrator picks who is next.',
  fidelity: 'paper',
  source: 'BIGMAS, method section; no code is public.',
  differences: [
    'Prompts are ours, and so are the limits where none is stated: 6 nodes, 10 steps, 2 corrections.',
    'The question is the read-only context and part of every request. A node sees the fields that its contract names; the orchestrator sees everything.',
    'If a design cannot be read after one repair, the question stays unanswered.',
  ],
  options,
  drive: (_, settings) => async (context) => {
    const design = await designed(context, settings)
    if (design === undefined) return undefined
    const workspace = new Workspace(design)
    let current: string | undefined = design.source
    for (let step = 0; step < settings.steps && current !== undefined; step += 1) {
      await turnOf(context, workspace, design, current, settings)
      current = await next(context, workspace, design, current)
    }
    return workspace.answer ?? (await fallback(context, workspace))
  },
})

const designReply = z
  .object({
    nodes: z
      .array(z.object({ id: z.string().min(1), role: z.string().min(1), description: z.string() }))
      .min(1),
    edges: z.array(z.tuple([z.string(), z.string()])),
    source: z.string(),
    sink: z.string(),
    /** The initial `work` of the workspace. */
    work: z.record(z.string(), z.json()),
    contract: z.record(z.string(), z.object({ reads: z.array(z.string()), writes: z.array(z.string()) })),
  })
  .refine(({ nodes }) => new Set(nodes.map(({ id }) => id)).size === nodes.length, 'Two nodes have one id.')
  .refine(
    ({ nodes, contract }) => nodes.every(({ id }) => Object.hasOwn(contract, id)),
    'The contract does not name every node.',
  )
  .refine(
    ({ nodes, edges, source, sink }) =>
      [source, sink, ...edges.flat()].every((id) => nodes.some((node) => node.id === id)),
    'An edge, the source or the sink names a node that there is not.',
  )

type Design = z.output<typeof designReply>

async function designed(context: DriveContext, { nodes: most }: Settings): Promise<Design | undefined> {
  const { value } = await context.consult({
    role: 'designer',
    prompt: prompt(
      `You design a small organisation for one question: nodes with roles, directed edges between them (cycles are
      allowed), and a shared workspace through which alone they talk.`,
    ),
    reply: {
      nodes: `a list of 1 to ${most} objects {"id", "role", "description"}`,
      edges: 'a list of pairs [from, to] of node ids',
      source: 'the id of the node that begins',
      sink: 'the id of the node that writes the answer',
      work: 'an object: the empty template of the workspace, with a field for everything that nodes hand on',
      contract:
        'an object: for every node id {"reads": [...], "writes": [...]} with paths such as "work.plan" or "answer"',
    },
    schema: designReply.refine(({ nodes }) => nodes.length <= most, `There may be ${most} nodes at most.`),
  })
  return value
}

/** `context` is read-only, nodes write `work`, `system` is the history, and writing `answer` ends the run. */
class Workspace {
  readonly work: Record<string, JsonValue>
  readonly system: { readonly history: JsonValue[] } = { history: [] }
  answer: JsonValue | undefined

  constructor({ work }: Design) {
    this.work = { ...work } as Record<string, JsonValue>
  }

  /** Writes, or returns what is wrong with the write. */
  write(
    { path, action, payload }: z.output<typeof writeReply>,
    writes: readonly string[],
    context: Pick<DriveContext, 'accepts'>,
  ): string | undefined {
    if (!writes.includes(path)) return `You may write ${writes.join(', ') || 'nothing'}, not ${path}.`
    if (payload === null || payload === '') return 'The payload is empty.'
    if (path === 'answer') {
      if (action !== 'set') return 'The answer can only be set.'
      if (!context.accepts(payload)) return 'The payload is no answer as "answer_requirement" says.'
      this.answer = payload
      return undefined
    }
    const [top, field, ...rest] = path.split('.')
    if (top !== 'work' || field === undefined || rest.length > 0 || !Object.hasOwn(this.work, field))
      return `The workspace has no ${path}.`
    const before = this.work[field]!
    if (action === 'append' && !Array.isArray(before)) return `${path} is no list: set it.`
    this.work[field] = action === 'append' ? [...(before as JsonValue[]), payload] : payload
    return undefined
  }

  shown(): JsonObject {
    return {
      work: { ...this.work },
      system: { history: [...this.system.history] },
      answer: this.answer ?? null,
    }
  }

  /** The values at these paths: a whole part, such as `work`, or one of its fields. */
  at(paths: readonly string[]): JsonObject {
    const { work, ...parts } = this.shown()
    const isAll = paths.includes('work')
    const fields = Object.entries(work as JsonObject).filter(
      ([field]) => isAll || paths.includes(`work.${field}`),
    )
    const others = Object.entries(parts).filter(([part]) => paths.includes(part))
    return { work: Object.fromEntries(fields), ...Object.fromEntries(others) }
  }
}

const writeReply = z.object({ path: z.string(), action: z.enum(['set', 'append']), payload: z.json() })

/** One node's turn: it sees the fields that its contract names, and writes; it may correct a rejected write a few times. */
async function turnOf(
  context: DriveContext,
  workspace: Workspace,
  { nodes, contract, sink }: Design,
  id: string,
  { corrections }: Settings,
): Promise<void> {
  const { role, description } = nodes.find((node) => node.id === id)!
  const { reads, writes } = contract[id]!
  const allowed = id === sink && !writes.includes('answer') ? [...writes, 'answer'] : writes
  let problem: string | undefined
  for (let attempt = 0; attempt <= corrections; attempt += 1) {
    const { value } = await context.consult({
      role,
      prompt: prompt(
        `You are a node of an organisation that talks through a shared workspace. Do your part, and write it.`,
      ),
      brief: {
        node: id,
        description,
        reads,
        writes: allowed,
        workspace: workspace.at([...reads, ...allowed]),
        ...(problem && { problem }),
      },
      reply: {
        path: 'where you write: one of "writes"',
        action: '"set", or "append" for a list',
        payload: 'what you write; for the path "answer" a complete answer as "answer_requirement" says',
      },
      schema: writeReply,
      repair: false,
    })
    problem =
      value === undefined ? 'The reply was not of the form.' : workspace.write(value, allowed, context)
    if (problem === undefined) {
      workspace.system.history.push({ node: id, wrote: value!.path })
      return
    }
  }
  workspace.system.history.push({ node: id, failed: problem! })
}

/** The orchestrator sees everything and picks the next node; none once the sink has answered. */
async function next(
  context: DriveContext,
  workspace: Workspace,
  { edges, sink }: Design,
  current: string,
): Promise<string | undefined> {
  const successors = [...new Set(edges.filter(([from]) => from === current).map(([, to]) => to))]
  const isEnd = current === sink && workspace.answer !== undefined
  const choices = [...successors, ...(isEnd || successors.length === 0 ? ['END'] : [])]
  const { value } = await context.consult({
    role: 'orchestrator',
    prompt: prompt(
      `You run an organisation of nodes. Look at its workspace and history, and pick which node is next.`,
    ),
    brief: { current, successors: choices, workspace: workspace.shown() },
    reply: { next: 'one of "successors"' },
    schema: z.object({ next: z.enum(choices) }),
    repair: false,
  })
  if (value === undefined) context.note('unreadable orchestration', true)
  const chosen = value?.next ?? choices.at(-1)!
  return chosen === 'END' ? undefined : chosen
}

/** No answer within the allowed steps: one call picks the best candidate from the workspace. */
async function fallback(context: DriveContext, workspace: Workspace): Promise<JsonValue | undefined> {
  context.note('fallback', true)
  const { value } = await context.consult({
    role: 'fallback',
    prompt: prompt(
      `An organisation has stopped without an answer. Read the best candidate off its workspace.`,
    ),
    brief: { workspace: workspace.shown() },
    reply: { answer: 'a complete answer as "answer_requirement" says' },
    schema: z.object({ answer: z.json() }),
  })
  return value?.answer
}
