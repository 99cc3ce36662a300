import { styleText } from 'node:util'
import type { ExecutionEvent } from '../execution/events.ts'
import { visibleText } from '../graph/render/picture.ts'
import { counted } from './terminal-text.ts'

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

  /** Says something apart from the nodes, without tearing the view. */
  notice(text: string): void {
    const clear = this.#painted > 0 ? `\u001b[${this.#painted}A\u001b[0J` : ''
    this.#painted = 0
    this.#stream.write(`${clear}${text}\n`)
    if (this.#timer !== undefined) this.#paint()
  }

  #log(event: ExecutionEvent): void {
    const name = 'node' in event ? (this.#nodes.get(event.node)?.label ?? event.node) : ''
    const say = (text: string) => this.#stream.write(`${text}\n`)
    if (event.type === 'execution-start') say(`running ${counted(event.nodes.length, 'node')}`)
    else if (event.type === 'tool-end') say(`${name}: used ${event.tool} (${event.status})`)
    else if (event.type === 'node-end')
      say(`${name}: ${spoken(event.status)} after ${seconds(event.durationMs)}`)
  }

  /** Never wider or higher than the terminal: a line that wraps or scrolls could not be painted over. */
  #paint(): void {
    const columns = (this.#stream.columns || 80) - 1
    const rows = Math.max(2, (this.#stream.rows || 24) - 1)
    const lines = [...this.#nodes.values()].map((line) => this.#line(line))
    const shown = lines.length <= rows ? lines : this.#mostTelling(rows - 1)
    if (shown.length < lines.length) shown.push({ text: `  … and ${lines.length - shown.length} more` })
    const painted = shown.map(({ text, mark, style }) => {
      const cut = text.length > columns ? `${text.slice(0, columns - 1)}…` : text
      const plain = mark === undefined ? cut : cut.replace(mark.sign, styleText(mark.style, mark.sign))
      return `\u001b[2K${style === undefined ? plain : styleText(style, plain)}\n`
    })
    const back = this.#painted > 0 ? `\u001b[${this.#painted}A` : ''
    this.#stream.write(`${back}\u001b[0J${painted.join('')}`)
    this.#painted = painted.length
  }

  /** Where there is no room for all: who works now, then who ended last. */
  #mostTelling(room: number): PaintedLine[] {
    const order = { running: 0, ended: 1, waiting: 2 }
    return [...this.#nodes.values()]
      .toSorted((a, b) => order[a.state] - order[b.state] || b.startedAt - a.startedAt)
      .slice(0, room)
      .map((line) => this.#line(line))
  }

  #line({ label, waits, state, status, tokens, calls, startedAt, durationMs }: NodeLine): PaintedLine {
    const width = Math.max(...[...this.#nodes.values()].map((line) => line.label.length))
    const name = label.padEnd(width)
    if (state === 'waiting') {
      return { text: `  ○ ${name}  ${waits === '' ? '' : `waits for ${waits}`}`, style: 'dim' }
    }
    if (state === 'running') return { text: `  ● ${name}  ${seconds(performance.now() - startedAt)}` }
    const fine = status === 'ok' || status === 'null_answer'
    const mark = fine ? ({ sign: '✓', style: 'green' } as const) : ({ sign: '✗', style: 'red' } as const)
    const cost = `${counted(calls, 'call')}, ${tokens} tokens`
    const remark = status === 'ok' ? '' : `  ${spoken(status)}`
    return { text: `  ${mark.sign} ${name}  ${seconds(durationMs)}  ${cost}${remark}`, mark }
  }

  #finish(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#paint()
  }
}

interface PaintedLine {
  readonly text: string
  readonly mark?: { readonly sign: string; readonly style: 'green' | 'red' }
  readonly style?: 'dim'
}

/** That a node has no answer of its own is no failure: planners seldom have one. */
function spoken(status: string): string {
  return status === 'null_answer' ? 'no answer of its own' : status
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}
