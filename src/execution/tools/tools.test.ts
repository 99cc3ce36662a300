import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Table } from '../../library/task.ts'
import { builtInTools } from '../../library/tool-name.ts'
import { Problem } from '../../problem.ts'
import { SandboxPool } from '../../sandbox/pool.ts'
import { ProgramSandbox } from '../../sandbox/program-sandbox.ts'
import { SandboxUnavailable } from '../../sandbox/unavailable.ts'
import type { Reference } from '../../tasks/scoring/reference.ts'
import { cellNumber } from './table-reader.ts'
import { type ToolContext, type ToolObservation, useTool } from './tool.ts'
import { tools } from './tools.ts'

const sandbox = new ProgramSandbox(new SandboxPool({ concurrency: 2 }))

describe('tools', () => {
  test('have the names the library uses', () => {
    expect(Object.keys(tools)).toEqual([...builtInTools])
    for (const name of builtInTools) expect(tools[name].name).toBe(name)
  })

  test.each(builtInTools)('%s answers a bad payload with an error that shows the right one', async (name) => {
    const full: ToolContext = { sandbox, tables: [revenue], program: { mode: 'stdin', starterCode: '' } }
    for (const payload of [
      undefined,
      null,
      'text',
      [],
      {},
      { source: 3 },
      { expression: {} },
      { operation: 'drop' },
    ]) {
      const observation = await useTool(tools[name], payload, full)
      expect(observation).toMatchObject({ status: 'error', reason: 'bad_payload' })
      expect(observation.status === 'error' && observation.message).toContain(tools[name].description)
    }
  })

  test('cannot be given a reference', () => {
    const reference: Reference = {
      kind: 'humaneval',
      prompt: '',
      entryPoint: 'f',
      test: 'def check(candidate): pass',
    }
    const hidden: Reference & { kind: 'livecodebench' } = {
      kind: 'livecodebench',
      program: { mode: 'stdin', starterCode: '' },
      publicTests: [],
      privateTests: '[]',
    }
    // @ts-expect-error a reference is not a context
    const first: ToolContext = reference
    // @ts-expect-error even with the same public fields
    const second: ToolContext = hidden
    expect([first, second]).toHaveLength(2)
  })

  test('that run programs report a missing sandbox', async () => {
    const program = { mode: 'stdin', starterCode: '' } as const
    for (const name of ['python_exec', 'public_code'] as const) {
      const observation = await useTool(tools[name], { source: 'print(1)' }, { program })
      expect(observation).toMatchObject({ status: 'error', reason: 'unavailable' })
    }
    const findHost = () => Promise.reject(new SandboxUnavailable('it broke'))
    const broken = new ProgramSandbox(new SandboxPool({ findHost }))
    const failed = await useTool(tools.python_exec, { source: 'print(1)' }, { sandbox: broken })
    expect(failed).toEqual({ status: 'error', reason: 'unavailable', message: 'it broke' })
    const untested = await useTool(tools.public_code, { source: 'print(1)' }, { sandbox: broken, program })
    expect(untested).toMatchObject({ status: 'error', reason: 'unavailable' })
  })
})

test('calculator', async () => {
  const ask = (expression: string) => useTool(tools.calculator, { expression }, {})
  expect(await ask('(120 - 100) / 100 * 100')).toEqual({ status: 'ok', result: { value: 20 } })
  expect(await ask('1 / 0')).toEqual({ status: 'error', reason: 'bad_payload', message: 'Division by zero.' })
  expect(await ask('process.exit(1)')).toMatchObject({ status: 'error', reason: 'bad_payload' })
})

describe('python_exec', () => {
  const run = (source: string, more: object = {}) =>
    useTool(tools.python_exec, { source, ...more }, { sandbox })

  test('returns output and exit status', async () => {
    const result = { ended: 'exited', exit_status: 0, stdout: '20.0\n', stderr: '' }
    expect(await run('print((120 - 100) / 100 * 100)')).toEqual({ status: 'ok', result })
    expect(await run('import sys\nprint(input())\nsys.exit(7)', { stdin: 'hello' })).toMatchObject({
      result: { exit_status: 7, stdout: 'hello\n' },
    })
  })

  test('shows a program’s error as Python prints it', async () => {
    const observation = await run('def f():\n    return 1 / 0\n\nf()')
    const stderr = observation.status === 'ok' ? observation.result['stderr'] : ''
    expect(stderr).toBe(
      'Traceback (most recent call last):\n  File "<program>", line 4, in <module>\n    f()\n' +
        '  File "<program>", line 2, in f\n    return 1 / 0\n           ~~^~~\nZeroDivisionError: division by zero\n',
    )
    expect(await run('print(')).toMatchObject({
      result: { exit_status: 1, stderr: expect.stringMatching(/'\(' was never closed/) },
    })
  })

  test('says which limit stopped a program', async () => {
    expect(await run('while True:\n    print("x" * 999)')).toMatchObject({
      result: { ended: 'stopped: limit of output', exit_status: null },
    })
    // The first process of a namespace ignores its own SIGABRT, so the C library ends it another way.
    expect(await run('import os\nos.abort()')).toMatchObject({
      result: { ended: 'killed by signal 11', exit_status: 139 },
    })
  })

  test('stops with its signal', async () => {
    const stop = AbortSignal.timeout(300)
    const observation = useTool(
      tools.python_exec,
      { source: 'import time\ntime.sleep(9)' },
      { sandbox },
      stop,
    )
    await expect(observation).rejects.toMatchObject({ name: 'TimeoutError' })
  })
})

describe('public_code', () => {
  const script: ToolContext = {
    sandbox,
    program: { mode: 'stdin', starterCode: '' },
    publicTests: [
      { testtype: 'stdin', input: '1 2\n', output: '3\n' },
      { testtype: 'stdin', input: '4 5\n', output: '9\n' },
    ],
  }
  const check = (source: string, context: ToolContext, own: object[] = []) =>
    useTool(tools.public_code, { source, tests: own }, context)

  test('compiles without running', async () => {
    const observation = await check('import os\nos._exit(3)\nprint(', script)
    expect(observation).toMatchObject({ status: 'ok', result: { compiles: false, status: 'syntax_error' } })
    expect(observation.status === 'ok' && observation.result['error']).toContain('line 3')
  })

  test('runs public tests on standard input and shows differences', async () => {
    expect(await check('print(sum(map(int, input().split())))', script)).toEqual({
      status: 'ok',
      result: {
        compiles: true,
        passed: 2,
        total: 2,
        tests: [
          { origin: 'public', status: 'passed' },
          { origin: 'public', status: 'passed' },
        ],
      },
    })
    expect(await check('print(3)', script)).toMatchObject({
      result: {
        passed: 1,
        tests: [
          { status: 'passed' },
          { status: 'failed_tests', input: '4 5\n', expected: '9\n', actual: '3\n' },
        ],
      },
    })
    expect(await check('raise KeyError("k")', script)).toMatchObject({
      result: {
        passed: 0,
        tests: [{ status: 'runtime_error', error: expect.stringMatching(/KeyError: 'k'/) }, {}],
      },
    })
  })

  test('calls functions, methods of Solution, and functions with a prompt’s helpers', async () => {
    const tests = [{ testtype: 'functional', input: '[1, 2]\n3', output: '[4, 5]' }] as const
    const solution: ToolContext = {
      sandbox,
      program: {
        mode: 'function',
        starterCode: 'class Solution:\n    def add(self, xs: List[int], k: int):\n        ',
        entryPoint: 'add',
      },
      publicTests: tests,
    }
    const method = 'class Solution:\n    def add(self, xs: List[int], k):\n        return [x + k for x in xs]'
    expect(await check(method, solution)).toMatchObject({ result: { passed: 1 } })
    expect(await check('def add(xs, k):\n    return tuple(xs)', solution)).toMatchObject({
      result: { passed: 0, tests: [{ status: 'failed_tests', expected: '[4, 5]', actual: '(1, 2)' }] },
    })
    const starterCode = 'def plus(a, b):\n    return a + b\n\ndef add(xs, k):\n    """ Adds k. """\n'
    const prompt: ToolContext = {
      sandbox,
      program: { mode: 'function', starterCode, entryPoint: 'add' },
      publicTests: tests,
    }
    expect(await check('def add(xs, k):\n    return [plus(x, k) for x in xs]', prompt)).toMatchObject({
      result: { passed: 1 },
    })
    expect(await check('x = 1', prompt)).toMatchObject({ result: { tests: [{ status: 'runtime_error' }] } })
  })

  test('runs the model’s own tests beside the public ones', async () => {
    const own = [
      { input: '0 0', output: '0' },
      { input: '1 1', output: '3' },
    ]
    expect(await check('print(sum(map(int, input().split())))', script, own)).toMatchObject({
      result: {
        passed: 3,
        total: 4,
        tests: [{}, {}, { origin: 'own', status: 'passed' }, { origin: 'own', status: 'failed_tests' }],
      },
    })
    const asFunction: ToolContext = {
      sandbox,
      program: { mode: 'function', starterCode: '', entryPoint: 'f' },
    }
    expect(await check('def f(x): return x', asFunction, [{ input: 'one', output: '1' }])).toEqual({
      status: 'error',
      reason: 'bad_payload',
      message: 'tests[0]: input and output must be JSON.',
    })
    expect(await check('def f(x): return x', asFunction)).toMatchObject({
      result: { total: 0, note: expect.stringMatching(/no public tests/) },
    })
  })

  test('is refused for other tasks', async () => {
    expect(await check('x = 1', { sandbox })).toMatchObject({ status: 'error', reason: 'failed' })
  })
})

const revenue: Table = {
  name: 'revenue',
  caption: 'Revenue by year',
  header: ['Year', 'Revenue', 'Change'],
  rows: [
    ['2017', '$1,200.5', '-'],
    ['2018', '(300)', '-125 %'],
    ['2019', '$2,000', '12%'],
    ['Total', 'n/a'],
  ],
}
const unnamed: Table = {
  name: 'notes',
  rows: [
    ['Item', 'Value'],
    ['Tax', '3'],
  ],
}

describe('table_reader', () => {
  const ask = (payload: object, tables: readonly Table[] = [revenue, unnamed]) =>
    useTool(tools.table_reader, payload, { tables })

  test('lists tables', async () => {
    expect(await ask({ operation: 'list' })).toEqual({
      status: 'ok',
      result: {
        tables: [
          {
            number: 0,
            name: 'revenue',
            caption: 'Revenue by year',
            header: ['Year', 'Revenue', 'Change'],
            rows: 4,
            first_cells: ['2017', '2018', '2019', 'Total'],
          },
          { number: 1, name: 'notes', header: null, rows: 2, first_cells: ['Item', 'Tax'] },
        ],
      },
    })
  })

  test('reads a table with very many rows', async () => {
    const long = { name: 'long', rows: Array.from({ length: 300_000 }, (_, row) => [String(row), 'x']) }
    expect(await ask({ operation: 'slice', from: 299_998, to: 300_000 }, [long])).toMatchObject({
      status: 'ok',
    })
  })

  test('slices rows and columns', async () => {
    expect(await ask({ operation: 'slice', from: 1, to: 3, columns: ['revenue ', 0] })).toEqual({
      status: 'ok',
      result: {
        table: 'revenue',
        columns: ['Revenue', 'Year'],
        rows: [
          { row: 1, cells: ['(300)', '2018'] },
          { row: 2, cells: ['$2,000', '2019'] },
        ],
      },
    })
    expect(await ask({ operation: 'slice', table: 'NOTES' })).toMatchObject({
      result: { rows: [{ cells: ['Item', 'Value'] }, { cells: ['Tax', '3'] }] },
    })
  })

  test('finds cells by the text of row and column', async () => {
    const found = { table: 'revenue', columns: ['Change'], rows: [{ row: 2, cells: ['12%'] }] }
    expect(await ask({ operation: 'lookup', row: '2019', column: 'change' })).toEqual({
      status: 'ok',
      result: found,
    })
    expect(await ask({ operation: 'lookup', row: 2, column: 2 })).toEqual({ status: 'ok', result: found })
    expect(await ask({ operation: 'lookup', row: 'Total', column: 2 })).toMatchObject({
      result: { rows: [{ cells: [''] }] },
    })
    expect(await ask({ operation: 'lookup', table: 1, row: 'tax', column: 'Value' })).toMatchObject({
      result: { rows: [{ row: 1, cells: ['3'] }] },
    })
  })

  test.each([
    ['>', 1000, ['2017', '2019']],
    ['<=', '1,200.50', ['2017', '2018']],
    ['=', '-300', ['2018']],
    ['!=', '$2,000', ['2017', '2018', 'Total']],
    ['contains', 'N/A', ['Total']],
  ])('filters by %s %s', async (compare, value, years) => {
    const payload = { operation: 'filter', column: 'Revenue', compare, value, columns: ['Year'] }
    expect(await ask(payload)).toMatchObject({ result: { rows: years.map((year) => ({ cells: [year] })) } })
  })

  test('lists what exists when something is missing', async () => {
    expect(await ask({ operation: 'slice', table: 'costs' })).toEqual({
      status: 'error',
      reason: 'failed',
      message: "No table 'costs'. There are: 0 'revenue', 1 'notes'",
    })
    expect(await ask({ operation: 'lookup', row: '2020' })).toMatchObject({
      message: expect.stringMatching(/No row '2020'.*2017 \| 2018/),
    })
    expect(await ask({ operation: 'lookup', row: '2019', column: '__proto__' })).toMatchObject({
      reason: 'failed',
    })
    expect(await ask({ operation: 'list' }, [])).toMatchObject({
      status: 'error',
      message: 'This task has no tables.',
    })
  })

  test('cuts long output with a notice', async () => {
    const large: Table = {
      name: 'large',
      rows: Array.from({ length: 1000 }, (_, row) => [`${row}`, 'x'.repeat(1000)]),
    }
    const observation = await ask({ operation: 'slice' }, [large])
    expect(observation).toMatchObject({ result: { more_rows: 800 } })
    expect(JSON.stringify(observation).length).toBeLessThan(100_000)
  })

  test('answers for tables of any shape', async () => {
    expect(await ask({ operation: 'slice' }, [{ name: '', rows: [] }])).toMatchObject({
      result: { rows: [] },
    })
    expect(await ask({ operation: 'slice' }, [{ name: '', rows: [[]] }])).toMatchObject({
      result: { rows: [{ cells: [''] }] },
    })
  })
})

test.each([
  ['$1,234.5', 1234.5],
  ['(3.2)', -3.2],
  ['−5', -5],
  ['12 %', 12],
  ['.5', 0.5],
  ['007', 7],
  ['1,23', undefined],
  ['n/a', undefined],
  ['', undefined],
  ['-', undefined],
  ['1e3', undefined],
  ['9'.repeat(41), undefined],
])('the cell %j shows the number %s', (cell, number) => expect(cellNumber(cell)).toBe(number))

describe('a user-defined tool', () => {
  const returning = (given: unknown) => ({
    ...{ name: 'mine', description: 'Mine.', payload: z.object({}) },
    run: async () => given as ToolObservation,
  })

  test.each([
    [{ status: 'ok', result: { value: 1 } }],
    [{ status: 'error', reason: 'failed', message: 'no' }],
  ])('may return %j', async (given) => {
    expect(await useTool(returning(given), {}, {})).toBe(given)
  })

  test.each([
    [42],
    ['text'],
    [null],
    [undefined],
    [{ value: 1 }],
    [{ status: 'ok' }],
    [{ status: 'ok', result: [1] }],
    [{ status: 'error', reason: 'odd', message: 'no' }],
    [{ status: 'error', reason: 'failed' }],
  ])('that returns %j is refused at once with the expected type', async (given) => {
    const used = useTool(returning(given), {}, {})
    await expect(used).rejects.toThrow(/^The tool 'mine' returned .*\. Return \{ status: 'ok', result:/)
    await expect(used).rejects.toBeInstanceOf(Problem)
  })
})
