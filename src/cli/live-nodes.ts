import { styleText } from 'node:util'
import type { ExecutionEvent } from '../execution/events.ts'
import { visibleText } from '../graph/render/picture.ts'

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

const frameMs = 100

/**
 * Shows the nodes of an execution as they run: on a terminal one line per node that changes in place, elsewhere a line per
 * event, so that a log reads well.
 */
export class LiveNodes {
  readonly #stream: NodeJS.WriteStream
  readonly #live: boolean
  readonly #nodes = new Map<string, NodeLine>()
  #painted = 0
  #timer: NodeJS.Timeout | undefined

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream
    this.#live = stream.isTTY === true && process.env['TERM'] !== 'dumb' && !process.env['CI']
  }

  readonly listen = (event: ExecutionEvent): void => {
    this.#apply(event)
    if (!this.#live) this.#log(event)
    else if (event.type === 'execution-end') this.#finish()
    else this.#timer ??= setInterval(() => this.#paint(), frameMs).unref()
  }

  #apply(event: ExecutionEvent): void {
    if (event.type === 'execution-start') {
      const labels = new Map(event.nodes.map(({ node, executor }) => [node, visibleText(executor)]))
      for (const { node, part, predecessors } of event.nodes) {
        const label = `${labels.get(node)!}${part === 'worker' || part === 'aggregator' ? ` (${part})` : ''}`
        const waits = predecessors.map((predecessor) => labels.get(predecessor) ?? predecessor).join(', ')
        this.#nodes.set(node, {
          ...{ label, waits, state: 'waiting', status: '' },
          ...{ tokens: 0, calls: 0, startedAt: 0, durationMs: 0 },
        })
      }
      return
    }
    if (event.type === 'execution-end') return
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
    const name = 'node' in event ? (this.#nodes.get(event.node)?.label ?? event.node) : ''
    const say = (text: string) => this.#stream.write(`${text}\n`)
    if (event.type === 'execution-start') say(`running ${event.nodes.length} nodes`)
    else if (event.type === 'tool-end') say(`${name}: used ${event.tool} (${event.status})`)
    else if (event.type === 'node-end') say(`${name}: ${event.status} after ${seconds(event.durationMs)}`)
  }

  #paint(): void {
    const lines = [...this.#nodes.values()].map((line) => this.#line(line))
    const back = this.#painted > 0 ? `\u001b[${this.#painted}A` : ''
    this.#stream.write(`${back}${lines.map((line) => `\u001b[2K${line}\n`).join('')}`)
    this.#painted = lines.length
  }

  #line({ label, waits, state, status, tokens, calls, startedAt, durationMs }: NodeLine): string {
    const width = Math.max(...[...this.#nodes.values()].map((line) => line.label.length))
    const name = label.padEnd(width)
    if (state === 'waiting')
      return styleText('dim', `  ○ ${name}  ${waits === '' ? '' : `waits for ${waits}`}`)
    if (state === 'running') return `  ● ${name}  ${seconds(performance.now() - startedAt)}`
    const mark = status === 'ok' ? styleText('green', '✓') : styleText('red', '✗')
    const cost = `${calls} ${calls === 1 ? 'call' : 'calls'}, ${tokens} tokens`
    return `  ${mark} ${name}  ${seconds(durationMs)}  ${cost}${status === 'ok' ? '' : `  ${status}`}`
  }

  #finish(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#paint()
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}
