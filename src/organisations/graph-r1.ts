import { z } from 'zod'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import type { DriveContext } from '../execution/drive.ts'
import type { JsonValue } from '../library/json-value.ts'
import { prompt } from '../library/prompt.ts'
import type { Task } from '../library/task.ts'
import { defineOrganisation } from './organisation.ts'

const options = z.object({
  turns: z.int().min(1).max(16).default(4).describe('maximum number of turns'),
  facts: z.int().min(1).max(20).default(5).describe('facts returned per query'),
})

/** A hyperedge: one fact about all entities it names. */
export interface Fact {
  readonly text: string
}

export const graphR1 = defineOrganisation({
  name: 'graph-r1',
  category: 'adaptive',
  description:
    'One agent thinks, queries a hypergraph of facts from the context, and answers when it knows enough.',
  fidelity: 'adaptation',
  source: 'Luo et al., Graph-R1 (arXiv 2507.21892); LHRLAB/Graph-R1, script_process.py.',
  differences: [
    'Graph-R1 trains the weights of its model by GRPO, which is impossible with a frozen model. This is its inference loop.',
    'Facts are sentences and table rows of the public context; for closed-book questions, what the model recalls in one call.',
    "Facts are found with this project's text encoder. The limit on turns is ours; in the last turn it must answer.",
  ],
  options,
  drive:
    ({ encoder }, settings) =>
    async (context) => {
      const facts = factsOf(context.task)
      const known = facts.length > 0 ? facts : await recalled(context)
      const find = await retriever(await encoder(), known)
      const turns: JsonValue[] = []
      for (let turn = 1; turn <= settings.turns; turn += 1) {
        const isLast = turn === settings.turns
        const { value } = await context.consult({
          role: 'graph-r1',
          prompt: prompt(
            `You answer a question with the help of a graph of facts. Think first; then either query the graph, or answer.`,
            isLast
              ? `This is your last turn: you must answer.`
              : `You may query it ${settings.turns - turn} more times.`,
          ),
          brief: { turns },
          reply: {
            think: 'your reasoning so far',
            ...(isLast ? {} : { query: 'what to look for in the graph, or null if you answer' }),
            answer: `a complete answer as "answer_requirement" says${isLast ? '' : ', or null if you query'}`,
          },
          schema: turnReply,
        })
        if (value === undefined) break
        if (value.answer !== null && value.answer !== undefined) return value.answer
        if (typeof value.query !== 'string') break
        turns.push({ think: value.think, query: value.query, facts: await find(value.query, settings.facts) })
      }
      return undefined
    },
})

const turnReply = z.object({
  think: z.string(),
  query: z.string().nullish(),
  answer: z.json().nullish(),
})

/** The context's sentences and the tables' rows. */
export function factsOf({ context = [], tables = [] }: Task): Fact[] {
  const sentences = context.flatMap((passage) => passage.split(/(?<=[.!?])\s+/))
  const rows = tables.flatMap(({ name, header, rows }) =>
    rows.map((cells) => {
      const named = cells.map((cell, place) =>
        header?.[place] === undefined ? cell : `${header[place]}: ${cell}`,
      )
      return `${name}: ${named.join('; ')}`
    }),
  )
  return [...sentences, ...rows].filter((text) => text.trim() !== '').map((text) => ({ text: text.trim() }))
}

async function recalled(context: DriveContext): Promise<Fact[]> {
  const { value } = await context.consult({
    role: 'recaller',
    prompt: prompt(`You write down what you know that bears on a question. You do not answer it.`),
    reply: { facts: 'a list of up to 10 sentences, a fact each' },
    schema: z.object({ facts: z.array(z.string()) }),
  })
  if (value === undefined) context.note('unreadable facts', true)
  return (value?.facts ?? []).slice(0, 10).map((text) => ({ text }))
}

/** Finds the facts closest in meaning to a query, closest first. */
async function retriever(encoder: FrozenTextEncoder, facts: readonly Fact[]) {
  const vectors = await encoder.encode(facts.map(({ text }) => text))
  return async (query: string, count: number): Promise<string[]> => {
    const [asked] = await encoder.encode([query])
    const near = vectors.map((vector, place) => ({
      place,
      likeness: vector.reduce((sum, value, dimension) => sum + value * asked![dimension]!, 0),
    }))
    near.sort((a, b) => b.likeness - a.likeness || a.place - b.place)
    return near.slice(0, count).map(({ place }) => facts[place]!.text)
  }
}
