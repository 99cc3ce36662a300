import type { ExecutionEvent } from '../../execution/trace/events.ts'
import { chooseDisplay } from '../display/choose-display.ts'
import { type LiveArea, liveArea } from '../display/live-area.ts'
import { duration } from '../display/numbers.ts'
import { type Lines, type Screen, screenOf, shownText } from '../display/screen.ts'
import { counted } from '../display/terminal-text.ts'

interface ShownNode {
  readonly label: string
  startedAt: number
  tokens: number
  calls: number
}

/** Shows an execution: one line per finished node and, on a terminal, the running ones below. */
export function liveNodes(
  stream: NodeJS.WriteStream = process.stderr,
  isLive: boolean = chooseDisplay(undefined, stream) === 'live',
  screen: () => Screen = () => screenOf(stream),
) {
  const nodes = new Map<string, ShownNode>()
  const running = new Set<ShownNode>()
  const runningLines = () =>
    [...running].map(({ label, startedAt }) => `  ● ${label}  ${duration(performance.now() - startedAt)}`)
  let area: LiveArea | undefined

  /** Prints a separate line without disturbing the display. */
  const notice = (line: Lines): void => {
    if (area) area.above(line)
    else stream.write(screen().text(line))
  }
  const listen = (event: ExecutionEvent): void => {
    if (event.type === 'execution-end') {
      area?.end([])
      area = undefined
    } else if (event.type === 'execution-start') {
      notice(`Running ${counted(event.nodes.length, 'node')}:`)
      for (const { node, executor, part } of event.nodes) {
        const remark = part === 'worker' || part === 'aggregator' ? ` (${part})` : ''
        nodes.set(node, { label: `${shownText(executor)}${remark}`, startedAt: 0, tokens: 0, calls: 0 })
      }
      if (isLive) area = liveArea(stream, runningLines, screen)
    } else {
      const node = nodes.get(event.node)!
      if (event.type === 'node-start') {
        node.startedAt = performance.now()
        running.add(node)
      } else if (event.type === 'call-end') {
        node.calls += 1
        node.tokens += event.usage.input + event.usage.output
      } else if (event.type === 'tool-end') notice(`  ${node.label} used ${event.tool} (${event.status})`)
      else {
        running.delete(node)
        notice({ verbatim: endLine(node, event.status, event.durationMs, screen()) })
      }
      area?.update()
    }
  }
  return { listen, notice }
}

function endLine({ label, calls, tokens }: ShownNode, status: string, ms: number, screen: Screen): string {
  // A node without its own answer has not failed: planners seldom have one.
  const hasFailed = status !== 'ok' && status !== 'null_answer'
  const mark = hasFailed ? screen.paint('red', '✗') : screen.paint('green', '✓')
  const remark = hasFailed ? `  ${status}` : status === 'ok' ? '' : '  no answer of its own'
  return `${mark} ${label}  ${duration(ms)}  ${counted(calls, 'call')}, ${tokens} tokens${remark}`
}
