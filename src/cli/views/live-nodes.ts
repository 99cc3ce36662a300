import stringWidth from 'string-width'
import type { ExecutionEvent } from '../../execution/trace/events.ts'
import { chooseDisplay } from '../display/choose-display.ts'
import { LiveArea } from '../display/live-area.ts'
import { drawn, padText, type Screen, screenOf, shownText } from '../display/screen.ts'
import { counted } from '../display/terminal-text.ts'

interface NodeLine {
  readonly label: string
  readonly waits: string
  state: 'waiting' | 'running' | 'ended'
  status: string
  tokens: number
  calls: number
  startedAt: number
  durationMs: number
}

/** Shows the nodes of an execution: on a terminal one line per node that changes in place, elsewhere a line per event. */
export class LiveNodes {
  readonly #stream: NodeJS.WriteStream
  readonly #isLive: boolean
  readonly #screen: () => Screen
  readonly #nodes = new Map<string, NodeLine>()
  #area: LiveArea | undefined

  constructor(
    stream: NodeJS.WriteStream = process.stderr,
    isLive: boolean = chooseDisplay(undefined, stream) === 'live',
    screen: () => Screen = () => screenOf(stream),
  ) {
    this.#stream = stream
    this.#isLive = isLive
    this.#screen = screen
  }

  readonly listen = (event: ExecutionEvent): void => {
    this.#apply(event)
    if (!this.#isLive) this.#log(event)
    else if (event.type === 'execution-end') this.#finish()
    else if (this.#area) this.#area.update()
    else this.#area = new LiveArea(this.#stream, (screen, rows) => this.#lines(screen, rows), this.#screen)
  }

  /** Says something apart from the nodes, without tearing the view. */
  notice(text: string): void {
    if (this.#area) this.#area.above(`${text}\n`)
    else this.#stream.write(`${text}\n`)
  }

  #apply(event: ExecutionEvent): void {
    if (event.type === 'execution-end') return
    if (event.type === 'execution-start') {
      const labels = new Map(
        event.nodes.map(({ node, executor }) => [node, shownText(executor, this.#screen())]),
      )
      for (const { node, part, predecessors } of event.nodes) {
        this.#nodes.set(node, {
          label: `${labels.get(node)!}${part === 'worker' || part === 'aggregator' ? ` (${part})` : ''}`,
          waits: predecessors.map((predecessor) => labels.get(predecessor) ?? predecessor).join(', '),
          ...{ state: 'waiting', status: '', tokens: 0, calls: 0, startedAt: 0, durationMs: 0 },
        })
      }
      return
    }
    const line = this.#nodes.get(event.node)
    if (line === undefined) return
    if (event.type === 'node-start') {
      line.state = 'running'
      line.startedAt = performance.now()
    } else if (event.type === 'call-end') {
      line.calls += 1
      line.tokens += event.usage.input + event.usage.output
    } else if (event.type === 'node-end') {
      line.state = 'ended'
      line.status = event.status
      line.durationMs = event.durationMs
    }
  }

  #log(event: ExecutionEvent): void {
    const name = 'node' in event ? (this.#nodes.get(event.node)?.label ?? 'node') : ''
    if (event.type === 'execution-start') this.notice(`running ${counted(event.nodes.length, 'node')}`)
    else if (event.type === 'tool-end') this.notice(`${name}: used ${event.tool} (${event.status})`)
    else if (event.type === 'node-end')
      this.notice(`${name}: ${statusText(event.status)} after ${seconds(event.durationMs)}`)
  }

  /** All nodes in order; where there is no room for all, those at work, then those that ended last. */
  #lines(screen: Screen, rows: number): string[] {
    const nodes = [...this.#nodes.values()]
    const width = Math.max(...nodes.map(({ label }) => stringWidth(label)))
    if (nodes.length <= rows) return nodes.map((node) => nodeLine(node, width, screen))
    const order = { running: 0, ended: 1, waiting: 2 }
    const shown = nodes
      .toSorted((a, b) => order[a.state] - order[b.state] || b.startedAt - a.startedAt)
      .slice(0, rows - 1)
    return [
      ...shown.map((node) => nodeLine(node, width, screen)),
      `  … and ${nodes.length - shown.length} more`,
    ]
  }

  /** The last state stays. */
  #finish(): void {
    const screen = this.#screen()
    const lines = this.#lines(screen, this.#nodes.size).map((line) => `${drawn(line, screen)}\n`)
    this.#area?.end(lines.join(''))
    this.#area = undefined
  }
}

function nodeLine(node: NodeLine, width: number, screen: Screen): string {
  const { state, status, waits } = node
  const name = padText(node.label, width)
  if (state === 'waiting')
    return screen.paint('dim', `  ○ ${name}${waits === '' ? '' : `  waits for ${waits}`}`)
  if (state === 'running') return `  ● ${name}  ${seconds(performance.now() - node.startedAt)}`
  const isFine = status === 'ok' || status === 'null_answer'
  const mark = isFine ? screen.paint('green', '✓') : screen.paint('red', '✗')
  const cost = `${counted(node.calls, 'call')}, ${node.tokens} tokens`
  const remark = status === 'ok' ? '' : `  ${statusText(status)}`
  return `  ${mark} ${name}  ${seconds(node.durationMs)}  ${cost}${remark}`
}

/** A node without an answer of its own has not failed: planners seldom have one. */
function statusText(status: string): string {
  return status === 'null_answer' ? 'no answer of its own' : status
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}
