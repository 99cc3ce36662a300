import type { AgentGraph } from '../../graph/agent-graph.ts'
import type { ExplainedStep } from '../../policy/explained-steps.ts'
import { percent } from '../display/numbers.ts'
import { graphLines, type Screen, shownText, wrapText } from '../display/screen.ts'

/** The construction step by step, then the graph. */
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
    const forced = index === 0 ? 'forced: no role fits the limits' : 'forced: the graph is full'
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
    return `${predecessors.includes(unit) ? 'listens to' : 'ignores'} ${name} (${percent(probability)})`
  })
  const chosen = (name: string, probability: number) =>
    `${screen.paint('cyan', shownText(name))} ${percent(probability)}`
  return [
    `ADD ${chosen(role, step.roles[role]!)}   others: ${[...others, `STOP ${percent(step.stop)}`].join(', ')}`,
    `as ${chosen(realization, step.realizations![realization]!)}`,
    ...(edges.length > 0 ? [edges.join('; ')] : []),
  ]
}
