import { z } from 'zod'
import { AgentGraph, marksOf, type Unit, type UnitMarks } from '../graph/agent-graph.ts'
import { type JsonObject, type JsonValue, jsonTypeOf } from '../library/json-value.ts'
import { roleCalled } from '../library/plain-roles.ts'
import type {
  AgentOrder,
  Consulted,
  ConsultOrder,
  Drive,
  DriveContext,
  ProgramOutcome,
  Said,
} from './drive.ts'
import { type ExecutionMeans, execute, type NodeRunner } from './execute.ts'
import type { Execution } from './execution.ts'
import { alsoInstructions, briefInstructions, controlInstructions } from './instructions.ts'
import { boundedFields } from './length-budget.ts'
import { type NodeRun, uncalledRun } from './node.ts'
import { asOwn, type Packet, projectPacket } from './packet.ts'
import { executorOf, headText, outerNode, type PlannedNode, systemText, toolsText } from './plan.ts'
import { parseObject, type Response } from './protocol/response.ts'
import { namedText, type Text } from './text.ts'
import { emptyToolbox, toolsOf } from './toolbox.ts'
import { longestProgram, programEnding } from './tools/python-exec.ts'
import type { Tool } from './tools/tool.ts'

/**
 * Runs a task under the control of a driving organisation, which decides whom to ask, in what order and how often.
 * Each call takes the same path as a call of a graph. The resulting graph records who was asked and whom they heard.
 */
export async function executeDrive(options: ExecutionMeans & { readonly drive: Drive }): Promise<Execution> {
  const { drive, ...means } = options
  return execute(
    means,
    () => [],
    async (runner) => {
      const driving = new Driving(runner)
      let answer: JsonValue | undefined
      try {
        answer = await drive(driving)
      } catch (error) {
        // After an early end, the organisation may fail for lack of replies; the execution reports the real cause.
        if (!runner.context.signal.aborted) throw error
      }
      await driving.ended()
      return driving.worked(answer)
    },
  )
}

type DrivenNode = Omit<PlannedNode, 'id' | 'name' | 'head' | 'granularity' | 'twins' | 'remaining'>

class Driving implements DriveContext {
  readonly task: DriveContext['task']
  readonly contract: DriveContext['contract']
  readonly library: DriveContext['library']
  readonly profile: DriveContext['profile']
  readonly signal: AbortSignal
  readonly runsPrograms: boolean
  readonly #runner: NodeRunner
  readonly #units: Unit[] = []
  readonly #runs: NodeRun[] = []
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #notes: Record<string, JsonValue> = {}

  constructor(runner: NodeRunner) {
    const { task, contract, library, profile, signal } = runner.context
    this.task = task
    this.contract = contract
    this.library = library
    this.profile = profile
    this.signal = signal
    this.runsPrograms = runner.context.toolContext.sandbox !== undefined
    this.#runner = runner
  }

  async agent({ role: id, hears = [], brief, also, ...marks }: AgentOrder): Promise<Said> {
    const role = roleCalled(this.library, id)
    const executor = executorOf(role, { part: 'atomic', worker: 0 })
    const tools = toolsOf(executor, this.profile, this.#runner.context.tools ?? emptyToolbox)
    const more = [brief && briefInstructions, also && alsoInstructions].filter((one) => one !== undefined)
    const node: DrivenNode = {
      role: id,
      executor: executor.id,
      part: 'atomic',
      tools,
      system: systemText(executor, role, 'atomic', { hasTools: tools.size > 0, more: more.join('\n\n') }),
      toolsText: tools.size > 0 ? toolsText(tools) : undefined,
      also: also && Object.keys(also),
      brief: this.#told({ also, brief }),
    }
    const { packet, place } = await this.#run(node, hears, marks)
    return { packet, place, also: packet.also ?? {} }
  }

  async consult<Schema extends z.ZodType>(order: ConsultOrder<Schema>): Promise<Consulted<z.output<Schema>>> {
    const { role, prompt, hears = [], brief, reply, schema, repair = true, ...marks } = order
    let value: z.output<Schema> | undefined
    const read = (text: string): Response => {
      const reading = parseObject(text)
      if ('reason' in reading)
        return repair ? broken(`The reply is not one JSON object: ${reading.reason}.`) : reading
      const checked = schema.safeParse(reading.object)
      if (checked.success) {
        value = checked.data
        return { class: 'content', analysis: role, answer: reading.object }
      }
      const problem = z.prettifyError(checked.error)
      return repair ? broken(problem) : { class: 'format_failure', reason: 'bad_value' }
    }
    const instructions = [prompt, controlInstructions, ...(brief === undefined ? [] : [briefInstructions])]
    const node: DrivenNode = {
      role,
      executor: role,
      part: 'control',
      tools: noTools,
      system: namedText(instructions.join('\n\n')),
      brief: this.#told({ reply, brief }),
      read,
    }
    const { packet, place } = await this.#run(node, hears, marks)
    return packet.status === 'ok' ? { value, packet, place } : { packet, place }
  }

  async summarize(hears: readonly Said[]): Promise<Said> {
    const { packet, place } = await this.#run(outerNode('finalizer', this.library), hears, {})
    return { packet, place, also: {} }
  }

  accepts(answer: JsonValue): boolean {
    const { types, check } = this.contract
    return answer !== null && types.includes(jsonTypeOf(answer)) && check(answer).verdict === 'fits'
  }

  async program(source: string): Promise<ProgramOutcome> {
    const { toolContext, signal } = this.#runner.context
    const { sandbox } = toolContext
    if (sandbox === undefined) return { ran: false, reason: 'There is no sandbox to run programs in.' }
    if (source.length > longestProgram)
      return { ran: false, reason: `A program has ${longestProgram} characters at most.` }
    // A sandbox that fails is no result: it throws, and ends the execution.
    const report = await sandbox.run(source, '', signal, undefined, { writableTmp: false })
    const { end, code, stdout, stderr } = report
    const ended = end === 'exit' ? `exited with ${code}` : programEnding(report)
    return { ran: true, ended, stdout, stderr }
  }

  note(name: string, value: JsonValue): void {
    this.#notes[name] = value
  }

  /** Resolves once every agent has finished, including those the organisation did not await. */
  async ended(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay)
  }

  worked(answer: JsonValue | undefined) {
    const { context } = this.#runner
    const isAnswer = answer !== undefined && !context.signal.aborted && this.accepts(answer)
    const result = isAnswer ? ({ status: 'ok', answer } as const) : ({ status: 'null_answer' } as const)
    const graph = AgentGraph.of(this.#units)
    const notes = Object.keys(this.#notes).length === 0 ? undefined : this.#notes
    return { graph, runs: [...this.#runs, uncalledRun(conclusion, context, result)], notes }
  }

  async #run(
    node: DrivenNode,
    hears: readonly Said[],
    { agent, temperature, model }: UnitMarks,
  ): Promise<{ packet: Packet; place: number }> {
    const place = this.#units.length
    const { role, executor, part } = node
    const predecessors = [...new Set(hears.map((one) => one.place))]
    const marks = marksOf({ agent, temperature, model })
    this.#units.push({ role, realization: 'atomic', predecessors, ...marks })
    const planned: PlannedNode = {
      ...node,
      id: `u${place}`,
      name: `${role}-${agent ?? place + 1}`,
      granularity: 'atomic',
      twins: false,
      head: headText(executor, role, part, agent),
      remaining: 1,
      temperature,
      model,
    }
    const isOwn = (packet: Packet) => agent !== undefined && packet.name === planned.name
    const texts = hears.map(({ packet, place: from }) => {
      const text: Text = { key: `u${from}`, text: this.#handedOn(packet) }
      return isOwn(packet) ? asOwn(text) : text
    })
    const running = this.#runner.run(planned, texts)
    this.#underWay.add(running)
    const run = await running
    this.#underWay.delete(running)
    this.#runs[place] = run
    return { packet: run.packet, place }
  }

  #handedOn(packet: Packet): string {
    const { settings, interference } = this.#runner.context
    const said = interference === undefined ? packet : interference.handedOn(packet, this.task)
    return projectPacket(said, settings.budgets)
  }

  /** Extra request fields, within the task's length budget. */
  #told(fields: Readonly<Record<string, JsonObject | undefined>>): Text | undefined {
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    if (Object.keys(given).length === 0) return undefined
    const json = boundedFields(given as JsonObject, this.#runner.context.settings.budgets.task)
    return namedText(`,${json.slice(1, -1)}`)
  }
}

const noTools: ReadonlyMap<string, Tool> = new Map()

/** The organisation's conclusion, recorded as a node that makes no call. */
const conclusion: PlannedNode = {
  id: 'finalizer',
  part: 'finalizer',
  role: 'finalizer',
  executor: 'drive',
  granularity: 'atomic',
  name: 'finalizer',
  system: namedText(''),
  head: namedText(''),
  tools: noTools,
  remaining: 1,
  twins: false,
}

function broken(problem: string): Response {
  return { class: 'contract_violation', analysis: '', answer: null, problem }
}
