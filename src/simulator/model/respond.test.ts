import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { contractOf, questions } from '../../../test/simulated/questions.ts'
import { type Asking, message, requestOf, userMessage } from '../../../test/simulated/requests.ts'
import { parseFinalResponse, parseNodeResponse, type Response } from '../../execution/protocol/response.ts'
import { evaluateExpression } from '../../execution/tools/calculator.ts'
import { tools } from '../../execution/tools/tools.ts'
import { type AnswerContract, freeText, schemaContract } from '../../library/answer-contract.ts'
import type { JsonObject } from '../../library/json-value.ts'
import { paperLibrary } from '../../library/paper-library/paper-library.ts'
import type { Task } from '../../library/task.ts'
import { benchmarkContracts } from '../../tasks/benchmarks/list.ts'
import type { KnownTask } from './known-task.ts'
import { type QuestionKind, questionKinds } from './question-kind.ts'
import { SimulatedModel } from './simulator.ts'

/** The model's reply to a node, parsed like the executor does. */
function answered(
  simulator: SimulatedModel,
  task: Task,
  contract: AnswerContract,
  asking: Asking = {},
): Response {
  const { text } = simulator.complete(requestOf(userMessage(task, contract, asking)))
  const final = asking.part === 'finalizer' || asking.part === 'direct'
  return final ? parseFinalResponse(text, contract) : parseNodeResponse(text, contract)
}

function simulatorFor(kind: QuestionKind, count: number): { simulator: SimulatedModel; known: KnownTask[] } {
  const known = questions(kind, count)
  return { simulator: new SimulatedModel({ tasks: known }), known }
}

const executors = paperLibrary.roles.flatMap(({ id: role, atomic, group }) => [
  { role, part: 'atomic', executor: atomic!.id, tools: atomic!.tools } as const,
  ...group!.workers.map(
    ({ id, tools: own }) => ({ role, part: 'worker', executor: id, tools: own }) as const,
  ),
  { role, part: 'aggregator', executor: group!.aggregator.id, tools: [] } as const,
])

describe('every reply follows protocol and contract', () => {
  test.each(questionKinds)('%s: for every executor, with and without predecessors, in every turn', (kind) => {
    const { simulator, known } = simulatorFor(kind, 3)
    const contract = contractOf[kind]
    for (const { task, answer } of known)
      for (const asking of executors)
        for (const predecessors of [
          [],
          [message('independent_solver', answer), message('logic_reasoner', null)],
        ]) {
          const first = answered(simulator, task, contract, { ...asking, predecessors })
          expect(['content', 'null_answer', 'tool_request']).toContain(first.class)
          if (first.class !== 'tool_request') continue
          expect(asking.tools).toContain(first.tool)
          const turn = {
            tool_request: { tool: first.tool, payload: first.payload! },
            tool_observation: { status: 'ok', result: {} },
          }
          const repair = { problem: 'p', previous: 'x' }
          const turns: JsonObject[] = [turn, { repair }, { concise: true }]
          for (const again of turns) {
            const then = answered(simulator, task, contract, {
              ...asking,
              tools: [],
              predecessors,
              turn: again,
            })
            expect(['content', 'null_answer']).toContain(then.class)
          }
        }
  })

  test.each(questionKinds)('%s: finalizer and direct path always answer', (kind) => {
    const { simulator, known } = simulatorFor(kind, 20)
    const contract = contractOf[kind]
    for (const { task, answer } of known) {
      expect(answered(simulator, task, contract, { part: 'direct' }).class).toBe('content')
      for (const predecessors of [
        [],
        [message('logic_reasoner', null)],
        [message('independent_solver', answer)],
      ])
        expect(answered(simulator, task, contract, { part: 'finalizer', predecessors }).class).toBe('content')
    }
  })

  test('hostile predecessors change the content, not the form', () => {
    const { simulator, known } = simulatorFor('knowledge', 10)
    const strange = [
      message('independent_solver', { kind: 'tool_request' }),
      message('x', 'Z'.repeat(100_000)),
      message('y', ['A'], { analysis: '{"kind":"tool_request"} FINAL: A', status: 'ok' }),
      { id: 7, role: null, answer: { a: [[[[]]]] } },
      'not an object',
    ]
    for (const { task } of known) {
      const user = JSON.parse(userMessage(task, contractOf.knowledge, {}))
      const text = simulator.complete(requestOf(JSON.stringify({ ...user, predecessors: strange }))).text
      expect(['content', 'null_answer']).toContain(parseNodeResponse(text, contractOf.knowledge).class)
    }
  })
})

describe('unknown questions', () => {
  const task: Task = { id: 'u', question: 'How many of 12 eggs are left after 5 broke?', metadata: {} }
  const options = ['A', 'B', 'C'].map((label) => ({ label, text: label }))
  const program = { mode: 'function', starterCode: '', entryPoint: 'eggs' } as const
  const asked: Record<keyof typeof benchmarkContracts, Task> = {
    mmlu_pro: { ...task, options },
    aqua: { ...task, options },
    strategyqa: task,
    tabfact: { ...task, tables: [{ name: 't', rows: [['1']] }] },
    gsm8k: task,
    humaneval: { ...task, program },
    livecodebench: { ...task, program: { mode: 'stdin', starterCode: '' } },
    tatqa: { ...task, tables: [{ name: 't', rows: [['1']] }] },
  }
  const simulator = new SimulatedModel()

  test.each(Object.entries(benchmarkContracts))(
    '%s: get a guess in the required form, marked as such',
    (name, contract) => {
      for (const part of ['atomic', 'worker', 'aggregator', 'finalizer', 'direct'] as const) {
        const reply = answered(simulator, asked[name as keyof typeof asked], contract, { part })
        expect(reply).toMatchObject({ class: 'content', analysis: expect.stringContaining('does not know') })
      }
    },
  )

  test('a custom contract is met by its example', () => {
    const own = schemaContract({
      name: 'own',
      requirement: 'The answer is a list of steps.',
      example: { steps: ['a'] },
      schema: z.object({ steps: z.array(z.string()) }),
    })
    expect(answered(simulator, task, own)).toMatchObject({ class: 'content', answer: { steps: ['a'] } })
    expect(answered(simulator, task, freeText).class).toBe('content')
  })

  test('get the answer of most predecessors', () => {
    const predecessors = ['9', '8', '8'].map((answer, index) => message(`r${index}`, answer))
    const reply = answered(simulator, task, benchmarkContracts.gsm8k, { part: 'finalizer', predecessors })
    expect(reply).toMatchObject({ class: 'content', answer: '8' })
  })

  test('get different guesses', () => {
    const guesses = Array.from({ length: 40 }, (_, index) => {
      const reply = answered(
        simulator,
        { ...asked.mmlu_pro, question: `Which one is number ${index}?` },
        benchmarkContracts.aqua,
      )
      return reply.class === 'content' ? reply.answer : null
    })
    expect(new Set(guesses)).toEqual(new Set(['A', 'B', 'C']))
  })
})

describe('tools', () => {
  test('payloads are valid for their tools', () => {
    const asked = { calculator: 0, python_exec: 0, public_code: 0, table_reader: 0 }
    for (const kind of questionKinds) {
      const { simulator, known } = simulatorFor(kind, 30)
      for (const { task } of known)
        for (const own of [
          ['calculator', 'python_exec'],
          ['table_reader'],
          ['public_code', 'python_exec'],
        ] as const) {
          const reply = answered(simulator, task, contractOf[kind], {
            role: 'calculation_auditor',
            tools: own,
          })
          if (reply.class !== 'tool_request') continue
          const tool = reply.tool as keyof typeof asked
          expect(own).toContain(tool)
          const payload = tools[tool].payload.safeParse(reply.payload)
          expect(payload.success, JSON.stringify(reply)).toBe(true)
          asked[tool] += 1
        }
    }
    for (const count of Object.values(asked)) expect(count).toBeGreaterThan(5)
  })

  test('an expression evaluates to the answer its sender then gives', () => {
    const { simulator, known } = simulatorFor('math', 60)
    let asked = 0
    for (const { task } of known) {
      const auditor = { role: 'calculation_auditor', tools: ['calculator'] }
      const reply = answered(simulator, task, contractOf.math, auditor)
      if (reply.class !== 'tool_request') continue
      asked += 1
      const value = evaluateExpression(reply.payload!['expression'] as string)
      const { tool, payload } = reply
      const turn = {
        tool_request: { tool, payload: payload! },
        tool_observation: { status: 'ok', result: { value } },
      }
      const then = answered(simulator, task, contractOf.math, { ...auditor, tools: [], turn })
      if (then.class === 'content') expect(Number(then.answer)).toBeCloseTo(value, 6)
    }
    expect(asked).toBeGreaterThan(40)
  })

  test('the table reader is asked for the row named in the question', async () => {
    const { simulator, known } = simulatorFor('table-claim', 5)
    for (const { task } of known) {
      const reply = answered(simulator, task, contractOf['table-claim'], {
        role: 'table_interpreter',
        tools: ['table_reader'],
      })
      if (reply.class !== 'tool_request') continue
      const seen = await tools.table_reader.run(reply.payload, { tables: task.tables! })
      expect(seen).toMatchObject({
        status: 'ok',
        result: { rows: [{ cells: ['Basel', expect.any(String)] }] },
      })
    }
  })

  test('tools that do not help with the question are not used', () => {
    const { simulator, known } = simulatorFor('commonsense', 20)
    for (const { task } of known) {
      const everything = {
        role: 'calculation_auditor',
        tools: ['calculator', 'table_reader', 'public_code', 'own_tool'],
      }
      expect(answered(simulator, task, contractOf.commonsense, everything).class).not.toBe('tool_request')
    }
  })

  test('a program that failed public tests is often fixed, and one that passed is kept', () => {
    const { simulator, known } = simulatorFor('code', 200)
    const tally = { mended: 0, failed: 0, kept: 0, passed: 0 }
    for (const { task, answer } of known) {
      const implementer = { role: 'code_implementer', tools: ['public_code'] }
      const reply = answered(simulator, task, contractOf.code, implementer)
      if (reply.class !== 'tool_request') continue
      const { tool, payload } = reply
      const passes = payload!['source'] === answer
      const tool_observation = { status: 'ok', result: { compiles: true, passed: passes ? 1 : 0, total: 1 } }
      const turn = { tool_request: { tool, payload: payload! }, tool_observation }
      const then = answered(simulator, task, contractOf.code, { ...implementer, tools: [], turn })
      if (then.class !== 'content') continue
      if (passes) tally.passed += 1
      else tally.failed += 1
      if (passes && then.answer === answer) tally.kept += 1
      if (!passes && then.answer === answer) tally.mended += 1
    }
    expect(tally.failed).toBeGreaterThan(20)
    expect(tally.kept).toBe(tally.passed)
    expect(Math.abs(tally.mended / tally.failed - 0.45)).toBeLessThan(0.2)
  })
})

describe('messages', () => {
  const { simulator, known } = simulatorFor('math', 300)
  const share = (asking: (task: KnownTask) => Asking): number => {
    const right = known.filter((one) => {
      const reply = answered(simulator, one.task, contractOf.math, asking(one))
      return reply.class === 'content' && reply.answer === one.answer
    })
    return right.length / known.length
  }

  test('right predecessors help, wrong ones mislead, and agreement counts', () => {
    const alone = share(() => ({}))
    const one = share(({ answer }) => ({ predecessors: [message('logic_reasoner', answer)] }))
    const two = share(({ answer }) => ({
      predecessors: [message('logic_reasoner', answer), message('calculation_auditor', answer)],
    }))
    const misled = share(() => ({
      predecessors: [message('logic_reasoner', '1'), message('calculation_auditor', '1')],
    }))
    const split = share(() => ({
      predecessors: [message('logic_reasoner', '1'), message('calculation_auditor', '2')],
    }))
    expect(one).toBeGreaterThan(alone + 0.15)
    expect(two).toBeGreaterThan(one)
    expect(split).toBeLessThan(alone)
    expect(misled).toBeLessThan(split)
  })

  test('a checker detects wrong answers more often than a solver', () => {
    const predecessors = [message('logic_reasoner', '1')]
    const solver = share(() => ({ role: 'independent_solver', predecessors }))
    const verifier = share(() => ({ role: 'adversarial_verifier', predecessors }))
    expect(verifier).toBeGreaterThan(solver + 0.05)
  })

  test('a failed predecessor is a gap, not a vote', () => {
    const failed = message('logic_reasoner', '1', { status: 'format_failure', analysis: null, answer: null })
    const claimed = message('logic_reasoner', '1', { status: 'aborted' })
    const alone = share(() => ({ part: 'finalizer' }))
    for (const one of [failed, claimed])
      expect(Math.abs(share(() => ({ part: 'finalizer', predecessors: [one] })) - alone)).toBeLessThan(0.1)
  })

  test('identical twins count once', () => {
    const twin = message('logic_reasoner', '1')
    const once = share(() => ({ part: 'finalizer', predecessors: [twin] }))
    const twice = share(() => ({
      part: 'finalizer',
      predecessors: [twin, { ...twin, id: 'logic_reasoner-1#2' }],
    }))
    expect(Math.abs(once - twice)).toBeLessThan(0.1)
  })

  test('an answer cut by a length budget is still recognised', () => {
    const [code] = questions('code', 1)
    const long = { ...code!, answer: `${code!.answer as string}# ${'x'.repeat(300)}\n` }
    const own = new SimulatedModel({ tasks: [long] })
    const cut = `${(long.answer as string).slice(0, 200)} … [cut: 170 more characters]`
    const predecessors = [message('code_implementer', cut), message('code_reviewer', cut)]
    const reply = answered(own, long.task, contractOf.code, { part: 'finalizer', predecessors })
    expect(reply).toMatchObject({ class: 'content', answer: long.answer })
  })

  test('preparing roles often give no answer', () => {
    const silent = (role: string): number =>
      known.filter(({ task }) => answered(simulator, task, contractOf.math, { role }).class === 'null_answer')
        .length
    expect(silent('quantitative_modeler')).toBeGreaterThan(150)
    expect(silent('independent_solver')).toBeGreaterThan(0)
    expect(silent('independent_solver')).toBeLessThan(30)
  })
})
