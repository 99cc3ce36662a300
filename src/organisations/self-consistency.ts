import { z } from 'zod'
import { AgentGraph, type Unit } from '../graph/agent-graph.ts'
import { defineOrganisation } from './organisation.ts'

/** Several direct answers and a vote: shows what an organisation's tokens achieve without one. */
export const selfConsistency = defineOrganisation({
  name: 'self-consistency',
  category: 'direct',
  description: 'Several direct answers at temperature 0.7, and a vote.',
  fidelity: 'paper',
  source: 'Wang et al., Self-Consistency Improves Chain of Thought Reasoning (arXiv 2203.11171).',
  differences: [
    'Our direct prompt instead of few-shot chains of thought.',
    'Every request contains a number, so that a cache or a deterministic model does not repeat itself.',
  ],
  options: z.object({
    answers: z.int().min(1).max(99).default(5).describe('number of answers'),
    temperature: z.number().min(0).max(2).default(0.7).describe('temperature of the answers'),
  }),
  organise(_, { answers, temperature }) {
    const unit = (_: unknown, place: number): Unit => ({
      ...{ role: 'direct', realization: 'atomic', predecessors: [] },
      ...{ agent: place + 1, temperature },
    })
    const graph = AgentGraph.of(Array.from({ length: answers }, unit), 'vote')
    return () => graph
  },
})
