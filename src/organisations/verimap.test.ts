import { afterAll, describe, expect, test } from 'vitest'
import { asked, runOrganisation } from '../../test/organisations/organisation-run.ts'
import { openToolbox } from '../execution/toolbox.ts'
import { openProgramSandbox } from '../sandbox/program-sandbox.ts'
import { SandboxUnavailable } from '../sandbox/unavailable.ts'
import { verimap } from './verimap.ts'

const plan = (check: object) => ({
  subtasks: [
    // Out of order: the second needs the first.
    { id: 'add', instruction: 'Multiply.', inputs: ['factors'], outputs: ['product'], checks: [check] },
    {
      id: 'read',
      instruction: 'Find the factors.',
      inputs: [],
      outputs: ['factors'],
      checks: [{ criterion: 'two' }],
    },
  ],
  result: 'product',
})

describe('criteria', () => {
  test('runs subtasks in the order of their inputs, each verified', async () => {
    const { calls, answer, execution } = await runOrganisation(verimap, {}, ({ who, brief }) => {
      if (who === 'planner') return plan({ criterion: 'a number' })
      if (who === 'verifier') return { passed: true, advice: '' }
      return { outputs: brief!['instruction'] === 'Multiply.' ? { product: '42' } : { factors: [6, 7] } }
    })
    expect(asked(calls)).toEqual(['planner', 'executor', 'verifier', 'executor', 'verifier'])
    expect(calls[0]!.brief).toEqual({ checks_in_python: false })
    expect(calls[1]!.brief).toEqual({
      ...{ instruction: 'Find the factors.', inputs: {}, outputs: ['factors'], result: 'product' },
    })
    expect(calls[2]!.brief).toEqual({
      ...{ instruction: 'Find the factors.', inputs: {}, outputs: { factors: [6, 7] }, criterion: 'two' },
    })
    expect(calls[3]!.brief).toMatchObject({ inputs: { factors: [6, 7] } })
    expect(answer).toBe('42')
    expect(execution.usage.calls).toBe(5)
  })

  test('three tries with feedback, then a new plan from the traces, then the last answer', async () => {
    const { calls, answer, execution } = await runOrganisation(verimap, { plans: 2 }, ({ who, brief }) => {
      if (who === 'planner') return plan({ criterion: 'a number' })
      if (who === 'verifier')
        return brief!['criterion'] === 'two'
          ? { passed: true, advice: '' }
          : { passed: false, advice: 'More.' }
      return { outputs: brief!['instruction'] === 'Multiply.' ? { product: '13' } : { factors: [6, 7] } }
    })
    const attempt = ['executor', 'verifier']
    const planned = ['planner', ...attempt, ...attempt, ...attempt, ...attempt]
    expect(asked(calls)).toEqual([...planned, ...planned])
    expect(calls[5]!.brief!['feedback']).toEqual(['More.'])
    expect(calls[9]!.brief!['traces']).toMatchObject([{ failed: { subtask: 'add', problems: ['More.'] } }])
    expect(answer).toBe('13')
    expect(execution.notes).toEqual({ plans: 2 })
  })

  test('a circular plan is repaired once; without a plan there is no answer', async () => {
    const circle = {
      ...plan({ criterion: 'x' }),
      subtasks: [{ id: 'a', instruction: 'A', inputs: ['b'], outputs: ['b'], checks: [{ criterion: 'x' }] }],
    }
    const { calls, execution } = await runOrganisation(verimap, {}, () => circle)
    expect(asked(calls)).toEqual(['planner', 'planner'])
    expect(execution.status).toBe('unanswered')
    expect(execution.notes).toEqual({ 'unreadable plan': true })
  })
})

describe('Python in the sandbox', async () => {
  const sandbox = await openProgramSandbox()
  if (sandbox instanceof SandboxUnavailable) throw sandbox
  afterAll(() => sandbox.pool.close())

  test("assertions see inputs and outputs by name, and their message is the executor's feedback", async () => {
    let tries = 0
    const { calls, answer } = await runOrganisation(
      verimap,
      {},
      ({ who, brief }) => {
        if (who === 'planner')
          return plan({ python: 'assert int(product) == factors[0] * factors[1], "not the product"' })
        if (who === 'verifier') return { passed: true, advice: '' }
        if (brief!['instruction'] !== 'Multiply.') return { outputs: { factors: [6, 7] } }
        tries += 1
        return { outputs: { product: tries === 1 ? '13' : '42' } }
      },
      { tools: openToolbox(sandbox) },
    )
    expect(asked(calls)).toEqual(['planner', 'executor', 'verifier', 'executor', 'executor'])
    expect(calls[0]!.brief).toEqual({ checks_in_python: true })
    expect(calls[4]!.brief!['feedback']).toEqual(['AssertionError: not the product'])
    expect(answer).toBe('42')
  })
})
