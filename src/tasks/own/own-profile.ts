import { executorsOf, type Library } from '../../library/library.ts'
import { paperLibrary } from '../../library/paper-library/paper-library.ts'
import type { DatasetProfile } from '../../library/profiles.ts'
import type { Task } from '../../library/task.ts'
import { builtInTools, type ToolName } from '../../library/tool-name.ts'
import { TaskSetError } from '../task-set.ts'
import type { AnswerKind } from './answer-kind.ts'
import { didYouMean } from './nearest-name.ts'

/** Which roles and tools take part; what is left out follows from the questions. */
export interface GivenProfile {
  readonly roles?: readonly string[]
  readonly tools?: readonly ToolName[]
}

/** The profile of own questions. Of a library other than the paper's, all roles take part unless some are named. */
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

/** What the questions give a role to work on. */
interface Material {
  readonly code: boolean
  readonly options: boolean
  readonly claims: boolean
  readonly passages: boolean
  readonly tables: boolean
  readonly publicTests: boolean
  readonly numbers: boolean
}

/** From this share of questions with numbers on, those who calculate have enough to do. */
const numericalShare = 0.25

function materialOf(tasks: readonly Task[], kind: AnswerKind | undefined): Material {
  const some = (has: (task: Task) => boolean) => tasks.some(has)
  const tables = some((task) => (task.tables?.length ?? 0) > 0)
  const numerical = tasks.filter(hasNumbers).length
  return {
    code: kind === 'code',
    options: some((task) => task.options !== undefined),
    claims: kind === 'boolean',
    passages: some((task) => (task.context?.length ?? 0) > 0),
    tables,
    publicTests: some((task) => (task.publicTests?.length ?? 0) > 0),
    numbers: kind === 'number' || tables || numerical >= numericalShare * tasks.length,
  }
}

/** Two numbers make a calculation; one is often a date or a name. */
function hasNumbers({ question, options = [] }: Task): boolean {
  const text = [question, ...options.map((option) => option.text)].join(' ')
  return (text.match(/\d+/g)?.length ?? 0) >= 2
}

// The rules of benchmarks/roles.ts: a role takes part when the questions give it something to work on.
function fittingRoles({ code, options, claims, passages, tables, numbers }: Material): string[] {
  const everywhere = ['task_decomposer', 'independent_solver', 'adversarial_verifier']
  if (code) return [...everywhere, 'algorithm_designer', 'code_implementer', 'code_reviewer']
  const closedBook = !passages && !tables
  return [
    ...everywhere,
    'logic_reasoner',
    ...(passages || tables || claims ? ['evidence_analyst'] : []),
    ...(closedBook && (options || claims || !numbers) ? ['knowledge_reasoner'] : []),
    ...(options ? ['option_eliminator'] : []),
    ...(numbers ? ['quantitative_modeler', 'calculation_auditor'] : []),
    ...(tables ? ['table_interpreter'] : []),
    ...(claims ? ['entailment_judge'] : []),
  ]
}

/** A built-in tool is on when the questions have what it works on. A user's own tools are always on: we cannot know what they do. */
function toolsOf(library: Library, material: Material, given: readonly ToolName[] | undefined): ToolName[] {
  const permitted = new Set(library.roles.flatMap(executorsOf).flatMap(({ tools }) => tools))
  const own = [...permitted].filter((tool) => !(builtInTools as readonly string[]).includes(tool))
  const known = [...builtInTools, ...own]
  const unknown = given?.find((tool) => !known.includes(tool))
  if (unknown !== undefined)
    throw new TaskSetError(
      `The profile switches on the tool '${unknown}', which no role of the library may use.` +
        `${didYouMean(unknown, known)} There are ${known.join(', ')}.`,
    )
  const { code, numbers, tables, publicTests } = material
  return (
    given?.slice() ?? [
      ...(numbers && !code ? ['calculator'] : []),
      ...(numbers || code ? ['python_exec'] : []),
      ...(publicTests ? ['public_code'] : []),
      ...(tables ? ['table_reader'] : []),
      ...own,
    ]
  )
}
