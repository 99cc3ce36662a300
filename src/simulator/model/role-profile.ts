import { type QuestionKind, questionKinds } from './question-kind.ts'

/**
 * What a role does for the answer. `plan` and `gather` prepare it and often give none themselves, `solve` finds one,
 * `check` is at its best where there is one to check.
 */
export type RoleJob = 'plan' | 'gather' | 'solve' | 'check'

export interface RoleProfile {
  readonly job: RoleJob
  /** From -1 (out of place, and in others' way) to 1 (made for it). */
  readonly suits: Readonly<Record<QuestionKind, number>>
  /** Has nothing to work on where a question has no options. */
  readonly needsOptions?: boolean
}

/** Suits in the order of `questionKinds`: knowledge, common sense, mathematics, code, table arithmetic, table claims. */
function profile(job: RoleJob, ...suits: readonly number[]): RoleProfile {
  const byKind = Object.fromEntries(questionKinds.map((kind, index) => [kind, suits[index]]))
  return { job, suits: byKind as Record<QuestionKind, number> }
}

/** What the roles' descriptions promise, as numbers. A judgement made once, from the texts; not fitted to results. */
export const roleProfiles = {
  task_decomposer: profile('plan', 0.1, 0.2, 0.4, 0.4, 0.4, 0.2),
  evidence_analyst: profile('gather', 0.2, 0.5, -0.1, -0.4, 0.4, 0.5),
  independent_solver: profile('solve', 0.2, 0.2, 0.2, 0.2, 0.1, 0.1),
  adversarial_verifier: profile('check', 0.2, 0.3, 0.2, 0.2, 0.2, 0.3),
  knowledge_reasoner: profile('solve', 0.9, 0.7, -0.1, -0.3, -0.2, -0.1),
  option_eliminator: { ...profile('solve', 0.7, 0.1, 0.2, -0.6, -0.4, -0.3), needsOptions: true },
  logic_reasoner: profile('solve', 0.2, 0.8, 0.4, 0.1, 0, 0.5),
  quantitative_modeler: profile('plan', -0.1, -0.2, 0.9, 0.1, 0.7, 0.1),
  calculation_auditor: profile('check', -0.3, -0.4, 0.8, -0.1, 0.9, 0.3),
  algorithm_designer: profile('plan', -0.5, -0.5, 0.3, 0.9, -0.1, -0.4),
  code_implementer: profile('solve', -0.6, -0.6, 0.1, 0.9, -0.2, -0.5),
  code_reviewer: profile('check', -0.6, -0.6, -0.2, 0.8, -0.3, -0.5),
  table_interpreter: profile('gather', -0.5, -0.5, -0.2, -0.5, 0.9, 0.9),
  entailment_judge: profile('solve', 0.1, 0.7, -0.2, -0.5, 0.1, 0.9),
} as const satisfies Record<string, RoleProfile>

type KnownRole = keyof typeof roleProfiles

/** A role that is not known; also the finalizer and the direct answer. */
export const anybody: RoleProfile = profile('solve', 0, 0, 0, 0, 0, 0)

/** The first that fits decides. */
const resemblances: readonly (readonly [RegExp, KnownRole])[] = [
  [/table|spreadsheet|cell/, 'table_interpreter'],
  [/algorithm/, 'algorithm_designer'],
  [/(?:code|program)[a-z_-]*(?:review|test|check|critic|audit)|debug/, 'code_reviewer'],
  [/code|coder|program|implement|developer/, 'code_implementer'],
  [/calcul|arithmetic|comput|numeric/, 'calculation_auditor'],
  [/quantit|equation|math/, 'quantitative_modeler'],
  [/option|choice|eliminat/, 'option_eliminator'],
  [/logic|deduc|infer/, 'logic_reasoner'],
  [/entail|claim|judge/, 'entailment_judge'],
  [/evidence|quote|retriev|research/, 'evidence_analyst'],
  [/knowledge|fact|recall|expert/, 'knowledge_reasoner'],
  [/verif|check|critic|review|audit|advers|proof/, 'adversarial_verifier'],
  [/decompos|plan|outline/, 'task_decomposer'],
  [/solv/, 'independent_solver'],
]

/** The profile of a role; one of a user's own library counts as the known role that its name resembles. */
export function profileOf(role: string): RoleProfile {
  if (Object.hasOwn(roleProfiles, role)) return roleProfiles[role as KnownRole]
  const name = role.slice(0, 64).toLowerCase()
  const alike = resemblances.find(([pattern]) => pattern.test(name))
  return alike === undefined ? anybody : roleProfiles[alike[1]]
}

/** A plan or material instead of an answer. */
export function prepares({ job }: RoleProfile): boolean {
  return job === 'plan' || job === 'gather'
}
