import { describe, expect, test } from 'vitest'
import { executeGraph } from '../../src/execution/execute-graph.ts'
import { openToolbox } from '../../src/execution/toolbox.ts'
import { AgentGraph } from '../../src/graph/agent-graph.ts'
import { codeString, numericString, valuesAndScale } from '../../src/library/answer-contract.ts'
import { paperLibrary } from '../../src/library/paper-library/paper-library.ts'
import type { Task } from '../../src/library/task.ts'
import { SandboxPool } from '../../src/sandbox/pool.ts'
import { ProgramSandbox } from '../../src/sandbox/program-sandbox.ts'
import { benchmarkProfiles } from '../../src/tasks/benchmarks/list.ts'
import { fitting, ScriptedModel, toolRequest } from '../scripted-model.ts'

// The paper's library and profiles with the real tools and sandbox; only the model is scripted.

const toolbox = openToolbox(new ProgramSandbox(new SandboxPool({ concurrency: 2 })))
const metadata = {}

function run(options: {
  profile: keyof typeof benchmarkProfiles
  role: string
  realization: 'atomic' | 'group'
  task: Task
  request: string
}) {
  const contract =
    { humaneval: codeString, tatqa: valuesAndScale }[options.profile as 'humaneval'] ?? numericString
  const model = new ScriptedModel((heard) =>
    heard.message.tools === undefined ? fitting(heard, 'Done.', contract.example) : options.request,
  )
  const { role, realization, task } = options
  return executeGraph({
    graph: AgentGraph.of([{ role, realization, predecessors: [] }]),
    task,
    library: paperLibrary,
    profile: benchmarkProfiles[options.profile],
    contract,
    model,
    tools: toolbox,
  })
}

describe('tools in a graph', () => {
  test('python_exec works for each worker that may use it', async () => {
    const execution = await run({
      profile: 'gsm8k',
      role: 'calculation_auditor',
      realization: 'group',
      task: { id: 't', question: 'From 100 to 120: how many percent?', metadata },
      request: toolRequest('python_exec', { source: 'print((120 - 100) / 100 * 100)' }),
    })
    const observation = { tool: 'python_exec', status: 'ok', result: { exit_status: 0, stdout: '20.0\n' } }
    expect(execution).toMatchObject({ status: 'answered', usage: { calls: 8 }, failures: [] })
    expect(execution.packets.slice(0, 3)).toMatchObject(Array(3).fill({ toolObservation: observation }))
    expect(execution.packets[3]!.toolObservation).toBeUndefined()
  })

  test('public_code sees the public tests', async () => {
    const execution = await run({
      profile: 'humaneval',
      role: 'code_implementer',
      realization: 'atomic',
      task: {
        id: 't',
        question: 'Add one.',
        program: { mode: 'function', entryPoint: 'f', starterCode: 'def f(x):\n' },
        publicTests: [{ testtype: 'functional', input: '1', output: '2' }],
        metadata,
      },
      request: toolRequest('public_code', { source: 'def f(x):\n    return x + 1\n' }),
    })
    expect(execution.packets[0]!.toolObservation).toMatchObject({
      tool: 'public_code',
      status: 'ok',
      result: { compiles: true, passed: 1, total: 1 },
    })
  })

  test('table_reader sees the tables', async () => {
    const tables = [{ name: 't', header: ['', '2019'], rows: [['Revenue', '12']] }]
    const execution = await run({
      profile: 'tatqa',
      role: 'table_interpreter',
      realization: 'atomic',
      task: { id: 't', question: 'Revenue?', tables, metadata },
      request: toolRequest('table_reader', { operation: 'lookup', row: 'Revenue', column: '2019' }),
    })
    expect(execution.packets[0]!.toolObservation).toMatchObject({
      status: 'ok',
      result: { rows: [{ row: 0, cells: ['12'] }] },
    })
  })

  test('ending an execution ends a running program', async () => {
    const abort = new AbortController()
    const model = new ScriptedModel((heard) => {
      if (heard.message.tools === undefined) return fitting(heard, 'Done.', '1')
      setTimeout(() => abort.abort(), 50)
      return toolRequest('python_exec', { source: 'while True: pass' })
    })
    const execution = await executeGraph({
      graph: AgentGraph.of([{ role: 'calculation_auditor', realization: 'atomic', predecessors: [] }]),
      task: { id: 't', question: 'For ever?', metadata },
      library: paperLibrary,
      profile: benchmarkProfiles.gsm8k,
      contract: numericString,
      model,
      tools: toolbox,
      signal: abort.signal,
    })
    expect(execution.packets.map(({ status }) => status)).toEqual(['aborted', 'aborted'])
    expect(execution.status).toBe('aborted')
  })
})
