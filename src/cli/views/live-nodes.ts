import type { ExecutionEvent } from '../../execution/trace/events.ts'
import { chooseDisplay } from '../display/choose-display.ts'
import { LiveArea } from '../display/live-area.ts'
import { duration } from '../display/numbers.ts'
import { type Screen, screenOf, shownText } from '../display/screen.ts'
import { counted } from '../display/terminal-text.ts'

interface ShownNode {
  readonly label: string
  startedAt: number
  tokens: number
  calls: number
}

/** Shows the nodes of an execution: a line for each that ends and, on a terminal, those at work below. */
export class LiveNodes {
  readonly #stream: NodeJS.WriteStream
  readonly #isLive: boolean
  readonly #screen: () => Screen
  readonly #nodes = new Map<string, ShownNode>()
  readonly #running = new Set<ShownNode>()
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
    if (event.type === 'execution-start') this.#start(event.nodes)
    else if (event.type === 'execution-end') {
      this.#area?.end([])
      this.#area = undefined
    } else {
      const node = this.#nodes.get(event.node)
      if (node === undefined) return
      if (event.type === 'node-start') {
        node.startedAt = performance.now()
        this.#running.add(node)
      } else if (event.type === 'call-end') {
        node.calls += 1
        node.tokens += event.usage.input + event.usage.output
      } else if (event.type === 'tool-end')
        this.notice(`  ${node.label} used ${event.tool} (${event.status})`)
      else {
        this.#running.delete(node)
        this.notice(this.#ended(node, event.status, event.durationMs))
      }
      this.#area?.update()
    }
  }

  /** Says something apart, without tearing the view. */
  notice(line: string): void {
    if (this.#area) this.#area.above([line])
    else this.#stream.write(this.#screen().text([line]))
  }

  #start(nodes: Extract<ExecutionEvent, { type: 'execution-start' }>['nodes']): void {
    this.notice(`running ${counted(nodes.length, 'node')}`)
    for (const { node, executor, part } of nodes) {
      const remark = part === 'worker' || part === 'aggregator' ? ` (${part})` : ''
      this.#nodes.set(node, { label: `${shownText(executor)}${remark}`, startedAt: 0, tokens: 0, calls: 0 })
    }
    if (!this.#isLive) return
    const now = () => performance.now()
    const lines = () =>
      [...this.#running].map((one) => `  ● ${one.label}  ${duration(now() - one.startedAt)}`)
    this.#area = new LiveArea(this.#stream, lines, this.#screen)
  }

  #ended({ label, calls, tokens }: ShownNode, status: string, ms: number): string {
    // A node without an answer of its own has not failed: planners seldom have one.
    const hasFailed = status !== 'ok' && status !== 'null_answer'
    const mark = hasFailed ? this.#screen().paint('red', '✗') : this.#screen().paint('green', '✓')
    const remark = hasFailed ? `  ${status}` : status === 'ok' ? '' : '  no answer of its own'
    return `${mark} ${label}  ${duration(ms)}  ${counted(calls, 'call')}, ${tokens} tokens${remark}`
  }
}
