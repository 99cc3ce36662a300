import type { AgentGraph } from '../../graph/agent-graph.ts'
import type { Action, Restriction } from '../../graph/legality.ts'
import { realizations } from '../../library/role-space.ts'
import type { ConstructionPolicy } from '../../policy/policy.ts'
import { percent } from '../display/numbers.ts'
import { graphLines, type Screen, shownText, wrapText } from '../display/screen.ts'

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

interface ShownConstruction {
  readonly query: Float32Array
  readonly steps: readonly { readonly graph: AgentGraph; readonly action: Action }[]
  readonly restriction: Restriction
  readonly temperature: number
}

export function explainSteps(
  policy: ConstructionPolicy,
  { query, steps, restriction, temperature }: ShownConstruction,
): ExplainedStep[] {
  const { roles } = policy.options
  return steps.map(({ graph, action }) => {
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
    const shares = realizations.map((name, z) => [name, distribution.realizationProbability(role * 2 + z)])
    return {
      ...common,
      realizations: Object.fromEntries(shares),
      edges: graph.units.map((_, unit) =>
        masks.edges[branch * graph.size + unit] ? distribution.edgeProbability(branch, unit) : null,
      ),
    }
  })
}

/** The decisions one by one, then the graph. */
export function constructionLines(
  steps: readonly ExplainedStep[],
  graph: AgentGraph,
  screen: Screen,
): string[] {
  const decisions = steps.flatMap((step, index) => {
    const number = `${index + 1}. `
    const margin = ' '.repeat(number.length)
    const lines = stepLines(step, index, graph, screen)
    return [
      ...lines.map((line, row) => `${row === 0 ? number : margin}${wrapText(line, screen, margin)}`),
      '',
    ]
  })
  return [...decisions, ...graphLines(graph, screen)]
}

function stepLines(step: ExplainedStep, index: number, { units }: AgentGraph, screen: Screen): string[] {
  if (step.action.type === 'stop') {
    const forced = index === 0 ? 'no role fits the limits' : 'nothing else is legal: no room for another unit'
    return [`STOP  ${step.forced ? forced : percent(step.stop)}`]
  }
  const { role, realization, predecessors } = step.action
  const others = Object.entries(step.roles)
    .filter(([id]) => id !== role)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 3)
    .map(([id, probability]) => `${shownText(id)} ${percent(probability)}`)
  const edges = step.edges!.map((probability, unit) => {
    const name = `${unit + 1} ${shownText(units[unit]!.role)}`
    if (probability === null) return `cannot listen to ${name}`
    return `${predecessors.includes(unit) ? 'listens to' : 'not to'} ${name} (${percent(probability)})`
  })
  const chosen = (name: string, probability: number) =>
    `${screen.paint('cyan', shownText(name))} ${percent(probability)}`
  return [
    `ADD ${chosen(role, step.roles[role]!)}   others: ${[...others, `STOP ${percent(step.stop)}`].join(', ')}`,
    `as ${chosen(realization, step.realizations![realization]!)}`,
    ...(edges.length > 0 ? [edges.join('; ')] : []),
  ]
}
