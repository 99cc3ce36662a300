import { z } from 'zod'
import { diversity, membersOf, unrolled } from './agents.ts'
import { defineOrganisation } from './organisation.ts'

export const llmDebate = defineOrganisation({
  name: 'llm-debate',
  category: 'established',
  description: 'Equal agents answer, read all the others and answer again; a vote decides.',
  fidelity: 'released code',
  source: 'Du et al. (arXiv 2305.14325); composable-models/llm_multiagent_debate, gsm/gen_gsm.py.',
  differences: [
    "An agent hears the last round, including its own reply, instead of its whole chat history; the scorer's rule that an unreadable answer counts as right is dropped.",
    'At temperature 0, agents differ by a number in their requests, by role, or by a higher temperature.',
    'Programs are compared as text; if no two agree, the summarizer decides.',
  ],
  options: z.object({
    agents: z.int().min(2).max(16).default(3).describe('agents'),
    rounds: z.int().min(1).max(8).default(2).describe('rounds of answers'),
    diversity: diversity.default('nonce'),
  }),
  organise({ library }, { agents, rounds, diversity }) {
    const graph = unrolled(membersOf(library, agents, diversity), rounds, () => true)
    return () => graph
  },
})
