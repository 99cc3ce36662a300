import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { z } from 'zod'
import type { ExecutionEvent, ExecutionStatus } from '../execution/trace/events.ts'
import type { Unit } from '../graph/agent-graph.ts'
import type { JsonValue } from '../library/json-value.ts'
import type { Cost } from '../models/prices.ts'
import type { Usage } from '../models/usage.ts'
import type { ExplainedStep } from '../policy/explained-steps.ts'
import { Problem } from '../problem.ts'
import { Refusal } from '../serve/refusal.ts'
import type { RunFolder } from '../store/run-folder.ts'
import type { RunShelf } from './run-shelf.ts'
import type { ShownTrace } from './shown-trace.ts'

/** Sent to the page while its question is answered, in this order. */
export type AskEvent =
  | { readonly type: 'note'; readonly text: string }
  | {
      readonly type: 'construction'
      readonly update: number
      readonly temperature: number
      readonly units: readonly Unit[]
      readonly steps: readonly ExplainedStep[]
    }
  | { readonly type: 'execution'; readonly event: ExecutionEvent }
  | {
      readonly type: 'answer'
      readonly status: ExecutionStatus
      readonly answer: JsonValue
      readonly usage: Usage
      readonly cost: Cost
      readonly durationMs: number
      readonly simulated: boolean
      /** True if the simulated model does not know the question. */
      readonly guess: boolean
      readonly trace: ShownTrace
    }
  | { readonly type: 'problem'; readonly text: string }

/** Asks a run's policy, as `magic ask` does. */
export type AskRun = (
  folder: RunFolder,
  question: string,
  means: { readonly signal: AbortSignal; readonly tell: (event: AskEvent) => void },
) => Promise<void>

const asked = z.strictObject({ run: z.string(), question: z.string().trim().min(1).max(20_000) })

/** Questions answered at the same time. */
const mostAtOnce = 4
let underWay = 0

/** Streams the progress of a question. Closing the page cancels its calls. */
export async function answerQuestion(
  context: Context,
  shelf: RunShelf,
  ask: AskRun,
  closing: AbortSignal,
): Promise<Response> {
  const body = await context.req.json().catch(() => undefined)
  const { run: name, question } = asked.parse(body)
  const { folder } = shelf.find(name)
  if (underWay >= mostAtOnce)
    throw new Refusal(
      429,
      `${mostAtOnce} questions are already being answered. Try again when one of them is done.`,
    )
  underWay += 1
  return streamSSE(context, async (stream) => {
    const gone = new AbortController()
    stream.onAbort(() => gone.abort(new Problem('The page was closed.')))
    let written: Promise<unknown> = Promise.resolve()
    const tell = (event: AskEvent) => {
      written = written.then(() => stream.writeSSE({ data: JSON.stringify(event) }))
    }
    try {
      await ask(folder, question, { signal: AbortSignal.any([gone.signal, closing]), tell })
    } catch (error) {
      if (!(error instanceof Problem)) console.error(error)
      tell({
        type: 'problem',
        text:
          error instanceof Problem
            ? error.message
            : 'Internal error; see the terminal that runs the dashboard.',
      })
    } finally {
      underWay -= 1
      await written
    }
  })
}
