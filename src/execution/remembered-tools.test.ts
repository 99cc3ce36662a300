import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { settled } from '../../test/manual-clock.ts'
import { tinyLibrary, tinyProfile } from '../../test/tiny-library.ts'
import { freeText } from '../library/answer-contract.ts'
import type { CaseReport } from '../sandbox/case.ts'
import { SandboxPool } from '../sandbox/pool.ts'
import { ProgramSandbox } from '../sandbox/program-sandbox.ts'
import { SandboxFailure, SandboxUnavailable } from '../sandbox/unavailable.ts'
import { defaultSettings } from '../settings/execution.ts'
import { executorFingerprint } from './executor-fingerprint.ts'
import { MemoryShelf, Once } from './once.ts'
import { rememberTools } from './remembered-tools.ts'
import { openToolbox } from './toolbox.ts'
import { type Tool, type ToolContext, type ToolObservation, toolError, useTool } from './tools/tool.ts'

const sandbox = new ProgramSandbox(new SandboxPool({ concurrency: 2 }))

/** Stored observations. */
class Memory extends Once<ToolObservation> {
  readonly kept: MemoryShelf<ToolObservation>
  constructor(kept = new MemoryShelf<ToolObservation>()) {
    super(kept)
    this.kept = kept
  }
}

/** A tool that observes something different every time. */
class Counting implements Tool<{ q?: unknown }> {
  readonly name: string = 'count'
  readonly description: string = 'counts'
  readonly payload: Tool<{ q?: unknown }>['payload'] = z.object({ q: z.unknown().optional() })
  times = 0
  async run(): Promise<ToolObservation> {
    this.times += 1
    return { status: 'ok', result: { times: this.times } }
  }
}

/** A tool that ends on command. */
class Waiting extends Counting {
  readonly #end = Promise.withResolvers<ToolObservation>()
  readonly signals: (AbortSignal | undefined)[] = []
  readonly finish = this.#end.resolve
  readonly fail = this.#end.reject
  override run(_payload?: unknown, _context?: unknown, signal?: AbortSignal): Promise<ToolObservation> {
    this.signals.push(signal)
    return this.#end.promise
  }
}

function remembered(tool: Tool, memory: Memory): Tool {
  return rememberTools({ tools: new Map([[tool.name, tool]]) }, memory).tools.get(tool.name)!
}

const times = (count: number) => ({ status: 'ok', result: { times: count } })

describe('a toolbox with memory', () => {
  test('looks the same to a model and has the same fingerprint', () => {
    const own = new Counting()
    const plain = openToolbox(sandbox, [own])
    const box = rememberTools(plain, new Memory())
    expect([...box.tools.keys()]).toEqual([...plain.tools.keys()])
    for (const [name, tool] of plain.tools) {
      const { description, payload } = box.tools.get(name)!
      expect(description).toBe(tool.description)
      expect(payload).toBe(tool.payload)
    }
    expect(box.sandbox).toBe(sandbox)
    const fingerprint = (tools: typeof box) =>
      executorFingerprint({
        model: { identity: { provider: 'p', model: 'm', options: {} } },
        settings: defaultSettings,
        library: tinyLibrary,
        profile: { ...tinyProfile, tools: [...plain.tools.keys()] },
        contract: freeText,
        tools,
      })
    expect(fingerprint(box)).toBe(fingerprint(plain))
  })

  test('skips pure computations unless a user replaced the tool', async () => {
    const memory = new Memory()
    const plain = openToolbox(sandbox)
    const box = rememberTools(plain, memory)
    const isSame = (name: string) => box.tools.get(name) === plain.tools.get(name)
    expect([...plain.tools.keys()].filter(isSame)).toEqual(['calculator', 'table_reader'])
    const own = new (class extends Counting {
      override readonly name = 'calculator'
    })()
    const taken = rememberTools(openToolbox(undefined, [own]), memory).tools.get('calculator')!
    for (let time = 0; time < 2; time += 1) expect(await useTool(taken, {}, {})).toEqual(times(1))
  })

  test('repeats the first output of a nondeterministic program', async () => {
    const source = 'import os\nprint(os.urandom(16).hex())'
    const plain = openToolbox(sandbox)
    const look = (box: typeof plain) => useTool(box.tools.get('python_exec')!, { source }, { sandbox })
    expect(await look(plain)).not.toEqual(await look(plain))
    const memory = new Memory()
    const first = await look(rememberTools(plain, memory))
    expect(first).toMatchObject({ status: 'ok', result: { ended: 'exited' } })
    expect(await look(rememberTools(plain, memory))).toEqual(first)
    expect(memory.kept.size).toBe(1)
  })
})

describe('the same request', () => {
  const table = { name: 't', rows: [['1']] }
  const test1 = { testtype: 'stdin', input: '1', output: '2' } as const
  const base: ToolContext = {
    tables: [table],
    program: { mode: 'stdin', starterCode: '' },
    publicTests: [test1],
    sandbox,
  }

  test('has the same payload, however it is spelled', async () => {
    const tool = remembered(new Counting(), new Memory())
    const ask = (q: unknown) => useTool(tool, { q }, base)
    expect(await ask({ a: 1, b: [{ c: null, d: 'é' }] })).toEqual(times(1))
    expect(await ask({ b: [{ d: 'é', c: null }], a: 1 })).toEqual(times(1))
    expect(await useTool(tool, { unknown: 1, q: { a: 1, b: [{ c: null, d: 'é' }] } }, base)).toEqual(times(1))
    expect(await ask({ a: 1, b: { 0: { c: null, d: 'é' } } })).toEqual(times(2))
  })

  test.for<[string, ToolContext]>([
    ['another table', { ...base, tables: [{ ...table, rows: [['2']] }] }],
    ['no table', { ...base, tables: [] }],
    ['another program', { ...base, program: { mode: 'stdin', starterCode: 'x' } }],
    ['another test', { ...base, publicTests: [{ ...test1, output: '3' }] }],
    ['the test as a table', { tables: [test1 as never], program: base.program!, sandbox }],
    ['another sandbox', { ...base, sandbox: { ...sandbox, kind: 'another' } as unknown as ProgramSandbox }],
    ['nothing', {}],
  ])('with %s is a different one', async ([, context]) => {
    const tool = remembered(new Counting(), new Memory())
    expect(await useTool(tool, {}, base)).toEqual(times(1))
    expect(await useTool(tool, {}, context)).toEqual(times(2))
    expect(await useTool(tool, {}, { ...base })).toEqual(times(1))
  })

  test('of another tool, or one with another description, is a different one', async () => {
    const memory = new Memory()
    const tool = new Counting()
    const named = { ...tool, name: 'other', run: () => tool.run() }
    const described = { ...tool, description: 'counts again', run: () => tool.run() }
    const all = [tool, named, described]
    for (let round = 0; round < 2; round += 1)
      for (const [index, one] of all.entries())
        expect(await useTool(remembered(one, memory), {}, {})).toEqual(times(index + 1))
  })

  test('is not recognised if its payload is not plain JSON', async () => {
    const memory = new Memory()
    const tool: Tool = {
      name: 'days',
      description: 'days since',
      payload: z.object({ day: z.string().transform((text) => new Map([[text, text]])) }),
      run: async (payload) => ({
        status: 'ok',
        result: { day: [...(payload as { day: Map<string, string> }).day.keys()] },
      }),
    }
    for (const day of ['monday', 'tuesday'])
      expect(await useTool(remembered(tool, memory), { day }, {})).toMatchObject({ result: { day: [day] } })
    expect(memory.kept.size).toBe(0)
  })
})

describe('concurrent requests', () => {
  test('run the tool once, even through another box with the same memory', async () => {
    const memory = new Memory()
    const work = new Waiting()
    const asked = [1, 2, 3].map(() => useTool(remembered(work, memory), {}, {}))
    await settled()
    work.finish({ status: 'ok', result: { x: 1 } })
    expect(await Promise.all(asked)).toEqual(Array(3).fill({ status: 'ok', result: { x: 1 } }))
    expect(work.signals).toHaveLength(1)
  })

  test('survive the cancellation of one', async () => {
    const memory = new Memory()
    const work = new Waiting()
    const tool = remembered(work, memory)
    const leaving = new AbortController()
    const first = useTool(tool, {}, {}, leaving.signal)
    const second = useTool(tool, {}, {})
    await settled()
    leaving.abort(new Error('called off'))
    await expect(first).rejects.toThrow('called off')
    expect(work.signals[0]!.aborted).toBe(false)
    work.finish({ status: 'ok', result: { x: 1 } })
    expect(await second).toEqual({ status: 'ok', result: { x: 1 } })
    expect(work.signals[0]!.aborted).toBe(false)
    expect(memory.kept.size).toBe(1)
  })

  test('stop the tool once all are cancelled, and keep nothing', async () => {
    const memory = new Memory()
    const work = new Waiting()
    const tool = remembered(work, memory)
    const leaving = new AbortController()
    const both = [1, 2].map(() => useTool(tool, {}, {}, leaving.signal))
    await settled()
    leaving.abort()
    await expect(both[0]).rejects.toThrow(/abort/i)
    expect(work.signals[0]!.aborted).toBe(true)
    // A new caller runs the tool again.
    const fresh = new Waiting()
    const next = useTool(remembered(fresh, memory), {}, {})
    await settled()
    work.finish({ status: 'ok', result: { half: true } })
    expect(await both[1]).toEqual({ status: 'ok', result: { half: true } })
    expect(memory.kept.size).toBe(0)
    fresh.finish({ status: 'ok', result: { half: false } })
    expect(await next).toEqual({ status: 'ok', result: { half: false } })
    expect(await useTool(tool, {}, {})).toEqual(await next)
    await expect(useTool(tool, {}, {}, leaving.signal)).rejects.toThrow(/abort/i)
    expect(work.signals).toHaveLength(1)
  })

  test('share an error, which later callers do not see', async () => {
    const memory = new Memory()
    const work = new Waiting()
    const both = [1, 2].map(() => useTool(remembered(work, memory), {}, {}))
    await settled()
    work.fail(new Error('a mistake'))
    for (const one of both) await expect(one).rejects.toThrow('a mistake')
    expect(await useTool(remembered(new Counting(), memory), {}, {})).toEqual(times(1))
  })
})

describe('kept observations', () => {
  test.for([
    ['bad_payload', 1],
    ['failed', 1],
    ['unavailable', 0],
  ] as const)('an error with reason %s is kept %d times', async ([reason, kept]) => {
    const memory = new Memory()
    const work = new Waiting()
    work.finish(toolError(reason, 'so it is'))
    expect(await useTool(remembered(work, memory), {}, {})).toEqual(toolError(reason, 'so it is'))
    expect(memory.kept.size).toBe(kept)
  })

  test.for([new SandboxUnavailable('it broke'), new SandboxFailure('The job was stopped.')])(
    'nothing is kept after: %s',
    async (problem) => {
      const memory = new Memory()
      const run = () => Promise.reject(problem)
      const { tools } = rememberTools(openToolbox({ ...sandbox, run }), memory)
      const observation = useTool(
        tools.get('python_exec')!,
        { source: 'x' },
        { sandbox: { ...sandbox, run } },
      )
      expect(await observation).toMatchObject({ reason: 'unavailable' })
      expect(memory.kept.size).toBe(0)
    },
  )

  const ends: Record<CaseReport['end'], boolean> = {
    exit: true,
    signal: true,
    cpu: true,
    output: true,
    // Indistinguishable from `lost` in an observation.
    malformed: false,
    stopped: false,
    wall: false,
    lost: false,
    late: false,
  }
  test.for(Object.entries(ends) as [CaseReport['end'], boolean][])(
    'a program whose case ended by %s is kept: %s',
    async ([end, isKept]) => {
      const memory = new Memory()
      const report = { end, code: 1, cpuSeconds: 0, wallSeconds: 0, peakBytes: 0, stdout: '', stderr: '' }
      const reporting: ProgramSandbox = { ...sandbox, run: async () => report }
      const { tools } = rememberTools(openToolbox(reporting), memory)
      const context = { sandbox: reporting }
      expect(await useTool(tools.get('python_exec')!, { source: 'x' }, context)).toMatchObject({
        status: 'ok',
      })
      expect(memory.kept.size).toBe(isKept ? 1 : 0)
    },
  )

  test.for([
    ['print(int(input()) + 1)', 1],
    ['print(', 1],
    ['raise SystemExit(3)', 1],
    ['import time\ntime.sleep(9)', 0],
  ] as const)('tests of the program %j are kept %d times', async ([source, kept]) => {
    const memory = new Memory()
    const { tools } = rememberTools(openToolbox(sandbox), memory)
    const context: ToolContext = {
      sandbox,
      program: { mode: 'stdin', starterCode: '' },
      publicTests: [{ testtype: 'stdin', input: '1', output: '2' }],
    }
    expect(await useTool(tools.get('public_code')!, { source }, context)).toMatchObject({ status: 'ok' })
    expect(memory.kept.size).toBe(kept)
  })
})
