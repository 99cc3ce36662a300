import type { Executor } from './library.ts'
import { compareTools, type ToolName } from './tool-name.ts'

/** Which part of a library a data set uses: its roles, and the tools that are switched on. */
export interface DatasetProfile {
  readonly id: string
  /** Role ids; the library's order holds, not this one. */
  readonly roles: readonly string[]
  readonly tools: readonly ToolName[]
}

// The paper leaves the profiles open. Ours follow two rules. A role is in when the task gives it something to
// work on: options to eliminate, a table to read, code to write. A role that could only restate the question
// would cost the policy exploration and the user tokens. Decomposer, solver and verifier are in everywhere:
// they need nothing but a question, and the paper's diagnostic D1 builds its skeleton from them. A tool is on
// when an executor of these roles may use it and the task has what it works on.
const everywhere = ['task_decomposer', 'independent_solver', 'adversarial_verifier'] as const

const code = {
  // An algorithm, the program, its review. Evidence and knowledge roles have no material in a specification.
  roles: [...everywhere, 'algorithm_designer', 'code_implementer', 'code_reviewer'],
  // Public samples as they are, and free experiments; nothing to calculate apart from the program.
  tools: ['python_exec', 'public_code'],
} as const

/** Profiles of the paper's eight benchmarks, on the roles of `paperLibrary`. */
export const benchmarkProfiles = {
  // Fourteen fields with up to ten options; many questions are numerical (mathematics, physics, chemistry,
  // engineering, business). No passages, so no evidence analyst.
  mmlu_pro: {
    id: 'mmlu_pro',
    roles: [
      ...everywhere,
      'knowledge_reasoner',
      'option_eliminator',
      'logic_reasoner',
      'quantitative_modeler',
      'calculation_auditor',
    ],
    tools: ['calculator', 'python_exec'],
  },
  // A yes-or-no question with hidden intermediate facts: recall, weigh, infer, judge. The model's own
  // knowledge is the only source, and comparisons of dates or sizes need no tool.
  strategyqa: {
    id: 'strategyqa',
    roles: [...everywhere, 'evidence_analyst', 'knowledge_reasoner', 'logic_reasoner', 'entailment_judge'],
    tools: [],
  },
  // Algebra word problems with five options.
  aqua: {
    id: 'aqua',
    roles: [
      ...everywhere,
      'option_eliminator',
      'logic_reasoner',
      'quantitative_modeler',
      'calculation_auditor',
    ],
    tools: ['calculator', 'python_exec'],
  },
  // Arithmetic word problems with a free numerical answer: no options to eliminate.
  gsm8k: {
    id: 'gsm8k',
    roles: [...everywhere, 'logic_reasoner', 'quantitative_modeler', 'calculation_auditor'],
    tools: ['calculator', 'python_exec'],
  },
  humaneval: { id: 'humaneval', ...code },
  livecodebench: { id: 'livecodebench', ...code },
  // A financial table with paragraphs; spans, counts and arithmetic with a scale.
  tatqa: {
    id: 'tatqa',
    roles: [
      ...everywhere,
      'evidence_analyst',
      'quantitative_modeler',
      'calculation_auditor',
      'table_interpreter',
    ],
    tools: ['calculator', 'python_exec', 'table_reader'],
  },
  // A claim about a table: find the cells, count or compare, judge the claim.
  tabfact: {
    id: 'tabfact',
    roles: [
      ...everywhere,
      'evidence_analyst',
      'logic_reasoner',
      'calculation_auditor',
      'table_interpreter',
      'entailment_judge',
    ],
    tools: ['calculator', 'python_exec', 'table_reader'],
  },
} as const satisfies Record<string, DatasetProfile>

/** What an executor can really use: what it is permitted, the profile switches on and the machine has. */
export function availableTools(
  executor: Pick<Executor, 'tools'>,
  profile: Pick<DatasetProfile, 'tools'>,
  runtimeTools: Iterable<ToolName>,
): readonly ToolName[] {
  const enabled = new Set<ToolName>(profile.tools)
  const present = new Set(runtimeTools)
  return executor.tools.filter((tool) => enabled.has(tool) && present.has(tool)).sort(compareTools)
}
