import { executorsOf, type Library } from '../../library/library.ts'
import { paperLibrary } from '../../library/paper-library/paper-library.ts'
import type { DatasetProfile } from '../../library/profiles.ts'
import type { Task } from '../../library/task.ts'
import { builtInTools, type ToolName } from '../../library/tool-name.ts'
import { codeProfile, commonRoles } from '../benchmarks/roles.ts'
import { TaskSetError } from '../task-set.ts'
import type { AnswerKind } from './answer-kind.ts'
import { didYouMean } from './nearest-name.ts'

/** Which roles and tools take part. What is left out is derived from the questions. */
export interface GivenProfile {
  readonly roles?: readonly string[]
  readonly tools?: readonly ToolName[]
}

/** The profile of a user's questions. With a library other than the paper's, all roles take part unless some are named. */
export function ownProfile(
  id: string,
  library: Library,
  tasks: readonly Task[],
  kind: AnswerKind | undefined,
  given: GivenProfile = {},
): DatasetProfile {
  const material = materialOf(tasks, kind)
  const allRoles = library.roles.map((role) => role.id)
  const roles = given.roles ?? (library === paperLibrary ? fittingRoles(material) : allRoles)
  return { id, roles, tools: toolsOf(library, material, given.tools) }
}

/** Roles that calculate take part if at least this share of the questions has numbers. */
const numericalShare = 0.25

/** What the questions offer roles to work on. */
function materialOf(tasks: readonly Task[], kind: AnswerKind | undefined) {
  const some = (field: 'context' | 'tables' | 'publicTests') =>
    tasks.some((task) => (task[field]?.length ?? 0) > 0)
  const tables = some('tables')
  const numerical = tasks.filter(hasNumbers).length
  return {
    code: kind === 'code',
    options: tasks.some((task) => task.options !== undefined),
    claims: kind === 'boolean',
    passages: some('context'),
    tables,
    publicTests: some('publicTests'),
    numbers: kind === 'number' || tables || numerical >= numericalShare * tasks.length,
  }
}

type Material = ReturnType<typeof materialOf>

/** Two numbers make a calculation; one is often a date or a name. */
function hasNumbers({ question, options = [] }: Task): boolean {
  const text = [question, ...options.map((option) => option.text)].join(' ')
  return (text.match(/\d+/g)?.length ?? 0) >= 2
}

// The rules of benchmarks/roles.ts: a role takes part when the questions give it something to work on.
function fittingRoles({ code, options, claims, passages, tables, numbers }: Material): string[] {
  if (code) return [...commonRoles, ...codeProfile.furtherRoles]
  const closedBook = !passages && !tables
  const fits: [role: string, fits: boolean][] = [
    ['logic_reasoner', true],
    ['evidence_analyst', passages || tables || claims],
    ['knowledge_reasoner', closedBook && (options || claims || !numbers)],
    ['option_eliminator', options],
    ['quantitative_modeler', numbers],
    ['calculation_auditor', numbers],
    ['table_interpreter', tables],
    ['entailment_judge', claims],
  ]
  return [...commonRoles, ...fits.filter(([, fit]) => fit).map(([role]) => role)]
}

/** A built-in tool is enabled if the questions have what it works on. A user's own tools are always enabled. */
function toolsOf(library: Library, material: Material, given: readonly ToolName[] | undefined): ToolName[] {
  const permitted = library.roles.flatMap(executorsOf).flatMap(({ tools }) => tools)
  const known = [...new Set<ToolName>([...builtInTools, ...permitted])]
  const unknown = given?.find((tool) => !known.includes(tool))
  if (unknown !== undefined)
    throw new TaskSetError(
      `The profile switches on the tool '${unknown}', which no role of the library may use.` +
        `${didYouMean(unknown, known)} There are ${known.join(', ')}.`,
    )
  const { code, numbers, tables, publicTests } = material
  const isOn = new Map<ToolName, boolean>([
    ['calculator', numbers && !code],
    ['python_exec', numbers || code],
    ['public_code', publicTests],
    ['table_reader', tables],
  ])
  return given === undefined ? known.filter((tool) => isOn.get(tool) ?? true) : [...given]
}
