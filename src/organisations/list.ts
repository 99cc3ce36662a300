// All systems; the trainable ones have their own list as well. To add one, write its file and test, and add a line here.
import { autogen } from './autogen.ts'
import { bigmas } from './bigmas.ts'
import { direct } from './direct.ts'
import { dylan } from './dylan.ts'
import { graphR1 } from './graph-r1.ts'
import { graphSearch } from './graph-search.ts'
import { learners } from './learned/list.ts'
import { llmDebate } from './llm-debate.ts'
import type { OrganisationDefinition } from './organisation.ts'
import { selfConsistency } from './self-consistency.ts'
import { sparseComm } from './sparse-comm.ts'
import { topologies } from './topologies.ts'
import { verimap } from './verimap.ts'

export const organisations: readonly OrganisationDefinition[] = [
  direct,
  selfConsistency,
  ...topologies,
  autogen,
  llmDebate,
  dylan,
  sparseComm,
  graphSearch,
  graphR1,
  bigmas,
  verimap,
  ...learners,
]
