import type { OrganisationDefinition } from '../organisation.ts'
import { argDesigner } from './arg-designer.ts'
import { eibLearner } from './eib-learner.ts'
import { gDesigner } from './g-designer.ts'
import { goAgent } from './go-agent.ts'
import { gptswarm } from './gptswarm.ts'
import { masRouter } from './mas-router.ts'
import { rGfm } from './r-gfm.ts'
import { searchThenSft } from './search-then-sft.ts'

/** The trainable systems, in the order of the paper's tables. */
export const learners: readonly OrganisationDefinition[] = [
  gptswarm,
  gDesigner,
  rGfm,
  masRouter,
  goAgent,
  argDesigner,
  eibLearner,
  searchThenSft,
]
