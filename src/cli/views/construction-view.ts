import type { AgentGraph, Unit } from '../../graph/agent-graph.ts'
import type { Action, Restriction } from '../../graph/legality.ts'
import type { ExecutorLabel } from '../../graph/render/picture.ts'
import type { Library } from '../../library/library.ts'
import { realizations } from '../../library/role-space.ts'
import type { ConstructionPolicy } from '../../policy/policy.ts'
import { percent } from '../display/numbers.ts'
import { type Screen, shownText, wrapText } from '../display/screen.ts'

/** A decision with the probabilities that stood behind it. */
export interface ExplainedStep {
  readonly action: Action
  /** No other action was legal. */
  readonly forced: boolean
  readonly probability: number
  readonly stop: number
  readonly roles: Readonly<Record<string, number>>
  /** Of the chosen role. */
  readonly realizations?: Readonly<Record<string, number>>
  /** Of the chosen branch, by the position of the existing unit; null where an edge is not legal. */
  readonly edges?: readonly (number | null)[]
}

export function explainStep(
  policy: ConstructionPolicy,
  query: Float32Array,
  { graph, action }: { graph: AgentGraph; action: Action },
  { restriction, temperature }: { restriction: Restriction; temperature: number },
): ExplainedStep {
  const { roles } = policy.options
  const { distribution, masks } = policy.inspect(query, graph, { restriction, temperature })
  const common = {
    action,
    forced: distribution.stopProbability === 1,
    probability: Math.exp(distribution.logProbability(action)),
    stop: distribution.stopProbability,
    roles: Object.fromEntries(roles.roles.map(({ id }, role) => [id, distribution.roleProbability(role)])),
  }
  if (action.type === 'stop') return common
  const role = roles.indexOf(action.role)
  const branch = role * 2 + realizations.indexOf(action.realization)
  return {
    ...common,
    realizations: Object.fromEntries(
      realizations.map((realization, z) => [realization, distribution.realizationProbability(role * 2 + z)]),
    ),
    edges: graph.units.map((_, unit) =>
      masks.edges[branch * graph.size + unit] ? distribution.edgeProbability(branch, unit) : null,
    ),
  }
}

export function describeStep(
  step: ExplainedStep,
  index: number,
  { units }: AgentGraph,
  screen: Screen,
): string[] {
  const number = `${index + 1}. `
  const margin = ' '.repeat(number.length)
  const shown = (lines: readonly string[]) => [
    ...lines.map((line, row) => `${row === 0 ? number : margin}${wrapText(line, screen, margin)}`),
    '',
  ]
  if (step.action.type === 'stop')
    return shown([`STOP  ${step.forced ? whyForced(index) : percent(step.stop)}`])
  const { role, realization, predecessors } = step.action
  const others = Object.entries(step.roles)
    .filter(([id]) => id !== role)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 3)
    .map(([id, probability]) => `${shownText(id, screen)} ${percent(probability)}`)
  const edges = step.edges!.map((probability, unit) => {
    const name = `${unit + 1} ${shownText(units[unit]!.role, screen)}`
    if (probability === null) return `cannot listen to ${name}`
    return `${predecessors.includes(unit) ? 'listens to' : 'not to'} ${name} (${percent(probability)})`
  })
  const chosen = (name: string, probability: number) =>
    `${screen.paint('cyan', shownText(name, screen))} ${percent(probability)}`
  return shown([
    `ADD ${chosen(role, step.roles[role]!)}   others: ${[...others, `STOP ${percent(step.stop)}`].join(', ')}`,
    `as ${chosen(realization, step.realizations![realization]!)}`,
    ...(edges.length > 0 ? [edges.join('; ')] : []),
  ])
}

function whyForced(unitsPlaced: number): string {
  return unitsPlaced === 0 ? 'no role fits the limits' : 'nothing else is legal: no room for another unit'
}

/** The executors of a library by their names. */
export function executorLabel(library: Library): ExecutorLabel {
  return ({ role }: Unit, part, worker) => {
    const { atomic, group } = library.roles[library.space.indexOf(role)]!
    if (part === 'atomic') return atomic!.id
    return part === 'worker' ? group!.workers[worker]!.id : group!.aggregator.id
  }
}
