import { z } from 'zod'
import { AgentGraph } from '../graph/agent-graph.ts'
import { defineOrganisation } from './organisation.ts'

export const direct = defineOrganisation({
  name: 'direct',
  category: 'direct',
  description: 'The model alone with the question.',
  fidelity: 'paper',
  source: "The paper's direct baselines; one call.",
  differences: [],
  options: z.object({}),
  organise: () => () => AgentGraph.empty,
})
