import { z } from 'zod'
import { diversity, membersOf, unrolled } from './agents.ts'
import { defineOrganisation } from './organisation.ts'

export const sparseComm = defineOrganisation({
  name: 'sparse-comm',
  category: 'adaptive',
  description: 'A debate in which each agent reads only its two neighbours on a ring.',
  fidelity: 'adaptation',
  source:
    'Li et al., Improving Multi-Agent Debate with Sparse Communication Topology (arXiv 2406.11776), abstract.',
  differences: [
    'No code is public: prompts, six agents and two rounds are ours.',
    'The last reply, diversity at temperature 0 and programs are handled as in llm-debate.',
  ],
  options: z.object({
    agents: z.int().min(2).max(16).default(6).describe('agents'),
    rounds: z.int().min(1).max(8).default(2).describe('rounds of answers'),
    diversity: diversity.default('nonce'),
    neighbours: z
      .array(z.tuple([z.int().min(1), z.int().min(1)]))
      .optional()
      .describe('pairs of agents that read each other, counted from 1; default: a ring'),
  }),
  organise({ library }, { agents, rounds, diversity, neighbours }) {
    const ring = (one: number, other: number) => {
      const distance = Math.abs(one - other)
      return distance === 1 || distance === agents - 1
    }
    const given = new Set(neighbours?.flatMap(([one, other]) => [`${one} ${other}`, `${other} ${one}`]))
    const hears =
      neighbours === undefined ? ring : (one: number, other: number) => given.has(`${one + 1} ${other + 1}`)
    const graph = unrolled(membersOf(library, agents, diversity), rounds, hears)
    return () => graph
  },
})
