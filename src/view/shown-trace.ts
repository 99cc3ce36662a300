import type { QuestionDetail } from '../evaluation/question-detail.ts'
import { AgentGraph, type Unit } from '../graph/agent-graph.ts'
import { expand } from '../graph/expansion.ts'
import { tokensIn } from '../models/usage.ts'
import { UnknownError } from './run-shelf.ts'

/** An execution as the page shows it: nodes in dependency order, with their inputs, requests and replies. */
export type ShownTrace = ReturnType<typeof shownTrace>

export function shownTrace({
  record,
  transcript,
}: Pick<QuestionDetail, 'transcript'> & {
  readonly record: Pick<QuestionDetail['record'], 'graph' | 'durationMs'>
}) {
  if (transcript === undefined)
    throw new UnknownError(
      'The requests and replies behind this answer were not kept. A new evaluation keeps them.',
    )
  const heard = predecessorsOf(record.graph.units)
  return {
    durationMs: record.durationMs,
    nodes: transcript.map(
      ({ node, name, role, executor, part, status, reason, tool, calls, startMs, durationMs }) => ({
        ...{ node, name, role, executor, part, status, reason, startMs, durationMs },
        predecessors: heard.get(node) ?? [],
        calls: calls.map((call) => ({
          ...{ startMs: call.startMs, durationMs: call.durationMs, failure: call.failure, reply: call.reply },
          system: 'system' in call ? call.system : undefined,
          user: 'user' in call ? call.user : undefined,
          reused: call.reused === true,
          attempts: call.attempts.length,
          tokens: tokensOf(call),
        })),
        tool: tool && {
          ...{ name: tool.tool, startMs: tool.startMs, durationMs: tool.durationMs },
          payload: asText(tool.payload),
          observation: asText(tool.observation),
        },
        tokens: calls.reduce((sum, call) => sum + tokensOf(call), 0),
      }),
    ),
  }
}

type Call = NonNullable<QuestionDetail['transcript']>[number]['calls'][number]

function tokensOf({ attempts, reused }: Pick<Call, 'attempts' | 'reused'>): number {
  if (reused === true) return 0
  return attempts.reduce((sum, { usage }) => sum + (usage === undefined ? 0 : tokensIn(usage)), 0)
}

function asText(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value, null, 2)
}

/** For each node (`u0`, `u1.w2`, `u1.aggregator`, `finalizer`), the nodes it listens to. */
function predecessorsOf(units: readonly Unit[]): Map<string, string[]> {
  const { nodes, sinks } = expand(AgentGraph.of(units))
  const places = nodes.map(({ unit, part, worker }) =>
    part === 'atomic' ? `u${unit}` : part === 'worker' ? `u${unit}.w${worker}` : `u${unit}.aggregator`,
  )
  const heard = nodes.map(
    ({ predecessors }, node) => [places[node]!, predecessors.map((one) => places[one]!)] as const,
  )
  return new Map([...heard, ['finalizer', sinks.map((sink) => places[sink]!)]])
}
