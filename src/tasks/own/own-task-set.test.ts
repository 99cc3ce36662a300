import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { oneAtATime } from '../../../test/one-at-a-time.ts'
import { freeText, schemaContract } from '../../library/answer-contract.ts'
import { defineLibrary } from '../../library/define-library.ts'
import type { JsonValue } from '../../library/json-value.ts'
import { SandboxPool } from '../../sandbox/pool.ts'
import { taskVersion } from '../task-set.ts'
import { type DefinedTasks, defineTasks } from './define-tasks.ts'
import type { OwnReference } from './own-scorer.ts'
import { type OwnTaskOptions, ownTaskSet } from './own-task-set.ts'
import type { GivenQuestion } from './question.ts'

const load = (questions: readonly GivenQuestion[], options: OwnTaskOptions = {}) =>
  defineTasks({ name: 'mine', questions }).load(options)

/** The same question in other words, one for training and one for testing. */
const pair = (row: GivenQuestion, options: OwnTaskOptions = {}) =>
  load([row, { ...row, question: `${row.question} Again.` }], options)

async function scores(row: GivenQuestion, answers: readonly JsonValue[], options: OwnTaskOptions = {}) {
  const set = await pair(row, options)
  const reference = set.splits['train']!.references.values().next().value!
  return Promise.all(answers.map(async (answer) => (await set.scorer.score(answer, reference, {})).score))
}

const numbers = (count: number): GivenQuestion[] =>
  Array.from({ length: count }, (_, index) => ({ question: `What is ${index} + 1?`, answer: index + 1 }))

describe('the kind of answer', () => {
  test.each<[string, GivenQuestion, string, JsonValue]>([
    ['option', { question: 'Which?', options: ['x', 'y'], answer: 'Y' }, 'option-label', 'B'],
    ['option', { question: 'Which?', options: ['4', '8'], answer: 8 }, 'option-label', 'B'],
    ['boolean', { question: 'Is it?', answer: true }, 'boolean-string', 'true'],
    ['boolean', { question: 'Is it?', answer: 'No' }, 'boolean-string', 'false'],
    ['number', { question: 'How many?', answer: 1200 }, 'numeric-string', '1,200.0'],
    ['number', { question: 'How many?', answer: '0.10' }, 'numeric-string', '.1'],
    ['text', { question: 'Who?', answer: 'Ada  Lovelace' }, 'free-text', 'ada lovelace'],
    ['text', { question: 'Who?', answer: ['Ada', 'Countess'] }, 'free-text', 'countess'],
  ])('is inferred: %s', async (kind, row, contract, right) => {
    const set = await pair(row)
    expect(set.answerKind).toBe(kind)
    expect(set.notes[0]).toMatch(
      /^Answers are read as .*: all 2 are\. Override it with --answer, or `answer` in the configuration\.$/,
    )
    const task = set.splits['train']!.tasks[0]!
    expect(set.contractOf(task).name).toBe(contract)
    expect(await scores(row, [right, '', 'zzz', '999', {}])).toEqual([1, 0, 0, 0, 0])
    const reference = set.splits['train']!.references.get(task.id)!
    const { answer } = set.scorer.solution!(reference)!
    expect((await set.scorer.score(answer, reference, {})).score).toBe(1)
    expect(set.contractOf(task).check(answer).verdict).toBe('fits')
  })

  test('a mixture is refused with rows and remedy unless the kind is given', async () => {
    const rows = [...numbers(5), { question: 'Who?', answer: 'Ada' }]
    await expect(load(rows)).rejects.toThrow(
      "The answers are of several kinds: number (tasks 'mine', questions row 1, tasks 'mine', questions row 2, " +
        "tasks 'mine', questions row 3 and 2 more); text (tasks 'mine', questions row 6). Use one kind, or set it",
    )
    const set = await load(rows, { answer: 'text' })
    expect(set.answerKind).toBe('text')
    expect(set.notes).toHaveLength(1)
  })

  test.each<[GivenQuestion, OwnTaskOptions, string]>([
    [
      { question: 'a', answer: '$5' },
      { answer: 'number' },
      'row 1, field answer: must be a decimal number without unit',
    ],
    [{ question: 'a', answer: 2 ** 60 }, { answer: 'number' }, 'with more than 15 digits as a string'],
    [{ question: 'a', answer: 'maybe' }, { answer: 'boolean' }, 'must be true or false (or yes or no)'],
    [
      { question: 'a', options: ['x', 'y'], answer: 'C' },
      {},
      'must be the label of an option, which is one letter, or its text (A, B)',
    ],
    [{ question: 'a', options: ['B', 'A'], answer: 'A' }, {}, 'must be the label of an option'],
    [{ question: 'a', answer: 'x' }, { answer: 'option' }, 'there are no options'],
    [{ question: 'a', answer: '1', wrong: ['1.0'] }, {}, 'field wrong[0]: is a right answer.'],
    [{ question: 'a', answer: '1', solution: '2' }, {}, 'field solution: does not agree with the answer'],
    [{ question: 'a', answer: { x: 1 } }, {}, 'Give a contract and a scorer of your own.'],
    [
      {
        question: 'a',
        options: [
          { label: 'a', text: 'x' },
          { label: 'A', text: 'y' },
        ],
        answer: 'A',
      },
      {},
      "field options[1].label: the label 'A' is used twice",
    ],
    [{ question: 'a', answer: 'x' }, { answer: 'code' }, 'field tests: are missing'],
    [{ question: 'a', test: 'def check(c): pass' }, {}, 'field program: is missing. Name the function'],
    [
      { question: 'a', tests: [{ input: 'x', output: '1' }], program: { mode: 'function', entryPoint: 'f' } },
      {},
      'field tests[0].input: must be one JSON value per line',
    ],
    [
      { question: 'a', tests: [{ input: '1', output: '1', testtype: 'functional' }] },
      {},
      'field tests[0].testtype: is functional, but program.mode is stdin',
    ],
    [
      { question: 'a', tests: [{ input: '1', output: '1' }], solution: 3 },
      {},
      'field solution: must be the text of a program.',
    ],
  ])('%j with %j is refused', async (row, options, message) => {
    await expect(pair(row, options)).rejects.toThrow(message)
  })

  test('explicit labels take precedence over texts', async () => {
    const options = [
      { label: 'A', text: 'B' },
      { label: 'B', text: 'A' },
    ]
    expect(await scores({ question: 'Which?', options, answer: 'A' }, ['A', 'b'])).toEqual([1, 0])
  })

  test('a tolerance applies to numbers', async () => {
    expect(await scores({ question: 'a', answer: 200 }, ['201', '203'], { tolerance: 0.01 })).toEqual([1, 0])
    await expect(pair({ question: 'a', answer: 1 }, { tolerance: 1.5 })).rejects.toThrow('tolerance is 1.5')
  })
})

describe('the public task', () => {
  const secret = 'SECRET'
  const rows: GivenQuestion[] = [
    { question: 'a', answer: secret, wrong: [`${secret} wrong`], metadata: { topic: 'x' }, context: ['c'] },
    {
      question: 'b',
      tests: [{ input: secret, output: secret }],
      solution: secret,
      publicTests: [{ input: '1', output: '2' }],
    },
    {
      question: 'c',
      test: secret,
      program: { mode: 'function', entryPoint: 'f' },
      solution: secret,
      wrong: [secret],
    },
    { question: 'd', options: ['x', 'y'], answer: 'x', tables: [{ name: 't', rows: [['1']] }] },
  ]

  test.each(rows)('never contains hidden fields: $question', async (row) => {
    const { splits } = await pair(row)
    const [task] = splits['train']!.tasks
    expect(JSON.stringify(task)).not.toContain(secret)
    const fields = ['id', 'question', 'options', 'context', 'tables', 'program', 'publicTests', 'metadata']
    expect(Object.keys(task!).filter((field) => !fields.includes(field))).toEqual([])
    expect(task!.metadata).toEqual(row.metadata ?? {})
  })

  test("wrong answers do not affect an example's version", async () => {
    const version = async (row: GivenQuestion) => {
      const set = await pair(row)
      const [[id, reference]] = [...set.splits['train']!.references] as [[string, OwnReference]]
      return taskVersion(set, set.splits['train']!.tasks.find((task) => task.id === id)!, reference)
    }
    const plain = await version({ question: 'a', answer: 1 })
    expect(await version({ question: 'a', answer: 1, wrong: [2] })).toBe(plain)
    expect(await version({ question: 'a', answer: 2 })).not.toBe(plain)
  })
})

describe('splits', () => {
  test('are drawn by seed and id, in file order, and adding questions moves none', async () => {
    const ids = async (count: number, seed?: number) => {
      const { splits } = await load(numbers(count), seed === undefined ? {} : { seed })
      return Object.fromEntries(
        Object.entries(splits).map(([name, { tasks }]) => [name, tasks.map(({ id }) => id)]),
      )
    }
    const few = await ids(200)
    expect(few['train']!.length).toBeGreaterThan(120)
    expect(few['train']!.length).toBeLessThan(160)
    expect([...few['train']!, ...few['test']!].sort()).toEqual(
      numbers(200)
        .map((_, i) => `q${i + 1}`)
        .sort(),
    )
    const inOrder = [...few['train']!].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)))
    expect(few['train']).toEqual(inOrder)
    const more = await ids(300)
    expect(more['train']!.filter((id) => Number(id.slice(1)) <= 200)).toEqual(few['train'])
    expect(await ids(200, 7)).not.toEqual(few)
  })

  test('are never empty, however few questions there are', () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 6 }), fc.nat(), async (count, seed) => {
        const { splits } = await load(numbers(count), { seed })
        expect(splits['train']!.tasks.length).toBeGreaterThan(0)
        expect(splits['test']!.tasks.length).toBeGreaterThan(0)
        expect(splits['train']!.tasks.length + splits['test']!.tasks.length).toBe(count)
      }),
    ))

  test('follow the split field, including custom names', async () => {
    const rows = numbers(4).map((row, index) => ({
      ...row,
      split: ['dev', 'test', 'train', 'train'][index]!,
    }))
    const { splits, notes, selection } = await load(rows)
    expect(Object.keys(splits)).toEqual(['train', 'test', 'dev'])
    expect(splits['train']!.tasks.map(({ id }) => id)).toEqual(['q3', 'q4'])
    expect(notes).toHaveLength(1)
    expect(selection['split']).toEqual({ by: 'field' })
  })

  test('that cannot work are refused', async () => {
    const [a, b, c] = numbers(3) as [GivenQuestion, GivenQuestion, GivenQuestion]
    await expect(load([a])).rejects.toThrow('There is only one question.')
    await expect(load([{ ...a, split: 'train' }, b])).rejects.toThrow(
      "tasks 'mine', questions, row 2, field split: is missing, but row 1 has one.",
    )
    await expect(load([a, b].map((row) => ({ ...row, split: 'train' })))).rejects.toThrow("the split 'test'")
    await expect(load([{ ...a, id: 'x' }, b, { ...c, id: 'x' }])).rejects.toThrow(
      "row 3, field id: the id 'x' already occurs in tasks 'mine', questions, row 1.",
    )
    await expect(
      load([
        { ...a, split: 'train' },
        { ...a, id: 'other', split: 'test' },
      ]),
    ).rejects.toThrow("The question 'other' of the split 'test' also occurs in train, as 'q1'.")
  })
})

describe('a custom scorer', () => {
  const rows = numbers(2).map((row) => ({ ...row, metadata: { unit: 'm' } }))
  const first = async (options: OwnTaskOptions) => {
    const set = await load(rows, options)
    const reference = set.splits['train']!.references.values().next().value!
    return { set, reference, score: async (answer: JsonValue) => set.scorer.score(answer, reference, {}) }
  }

  test('gets the hidden part as given, and may answer in three ways', async () => {
    const seen: unknown[] = []
    const { score, set, reference } = await first({
      scorer: (answer, hidden) => {
        seen.push(hidden)
        return answer === '1'
          ? true
          : answer === '2'
            ? 0.25
            : { score: 0, parse: 'invalid', measures: { f1: 0.5 } }
      },
    })
    expect(await score('1')).toEqual({ score: 1, parse: 'ok' })
    expect(await score('2')).toEqual({ score: 0.25, parse: 'ok' })
    expect(await score('3')).toEqual({ score: 0, parse: 'invalid', measures: { f1: 0.5 } })
    expect(seen[0]).toMatchObject({ kind: 'given', metadata: { unit: 'm' } })
    expect(seen[0]).toBe(reference)
    expect(await score('of another form')).toEqual({ score: 0, parse: 'invalid' })
    expect(seen).toHaveLength(3)
    expect(set.metric).toBe('mean score')
  })

  test.each([[2], [-1], [Number.NaN], ['1'], [undefined], [{ score: 2 }], [{ score: 1, parse: 'fine' }]])(
    'that returns %j is refused',
    async (result) => {
      const { score } = await first({ scorer: () => result as number })
      await expect(score('1')).rejects.toThrow('The scorer gave')
    },
  )

  test('that throws is named with the question', async () => {
    const { score } = await first({
      scorer: () => {
        throw new Error('no key')
      },
    })
    await expect(score('1')).rejects.toThrow(/The scorer failed on the question 'What is .*': no key\./)
  })

  test('has a version: its own, or a digest of its source', async () => {
    const version = async (options: OwnTaskOptions) => (await first(options)).set.scorer.version
    expect(await version({ scorer: { score: () => 1, version: '7' } })).toMatch(
      /^given 7, contract [0-9a-f]{64}$/,
    )
    expect(await version({ scorer: () => 1 })).toBe(await version({ scorer: () => 1 }))
    expect(await version({ scorer: () => 1 })).not.toBe(await version({ scorer: () => 0 }))
  })

  test('with a custom contract needs no answer kind', async () => {
    const contract = schemaContract({
      name: 'point',
      requirement: 'An object with x.',
      example: { x: 1 },
      schema: z.strictObject({ x: z.number() }),
    })
    const points = [1, 2, 3].map((x) => ({ question: `Where is ${x}?`, answer: { x } }))
    const set = await load(points, {
      contract,
      scorer: (answer, { answer: right }) => JSON.stringify(answer) === JSON.stringify(right),
    })
    expect(set.answerKind).toBeUndefined()
    const [task] = set.splits['test']!.tasks
    expect(set.contractOf(task!)).toBe(contract)
    const reference = set.splits['test']!.references.get(task!.id)!
    const solution = set.scorer.solution!(reference)!
    expect((await set.scorer.score(solution.answer, reference, {})).score).toBe(1)
    const loose = await load(points, { contract: freeText, scorer: () => 1 })
    expect(loose.scorer.solution!(loose.splits['test']!.references.values().next().value!)).toBeUndefined()
  })
})

describe('the profile', () => {
  test('has the roles and tools the questions need', async () => {
    const roles = async (row: GivenQuestion) => {
      const { profile } = await pair(row)
      return [...profile.roles.slice(3), ...profile.tools.map((tool) => `+${tool}`)]
    }
    expect(await roles({ question: 'Who wrote it?', answer: 'Ada' })).toEqual([
      'logic_reasoner',
      'knowledge_reasoner',
    ])
    expect(await roles({ question: 'How many?', answer: 3 })).toEqual([
      'logic_reasoner',
      'quantitative_modeler',
      'calculation_auditor',
      '+calculator',
      '+python_exec',
    ])
    expect(await roles({ question: 'Is it?', answer: true, tables: [{ rows: [['1']] }] })).toEqual([
      'logic_reasoner',
      'evidence_analyst',
      'quantitative_modeler',
      'calculation_auditor',
      'table_interpreter',
      'entailment_judge',
      '+calculator',
      '+python_exec',
      '+table_reader',
    ])
    expect(await roles({ question: 'Which?', options: ['x', 'y'], answer: 'A' })).toContain(
      'option_eliminator',
    )
    expect(await roles({ question: 'Write it.', tests: [{ input: '', output: '' }] })).toEqual([
      'algorithm_designer',
      'code_implementer',
      'code_reviewer',
      '+python_exec',
    ])
  })

  test('is as given, and the library has only its roles', async () => {
    const set = await load(numbers(2), {
      profile: { roles: ['logic_reasoner', 'task_decomposer'], tools: [] },
    })
    expect(set.library.roles.map(({ id }) => id)).toEqual(['task_decomposer', 'logic_reasoner'])
    expect(set.profile).toEqual({ id: 'mine', roles: ['logic_reasoner', 'task_decomposer'], tools: [] })
    await expect(load(numbers(2), { profile: { tools: ['calculater'] } })).rejects.toThrow(
      "Did you mean 'calculator'?",
    )
    await expect(load(numbers(2), { profile: { roles: ['nobody'] } })).rejects.toThrow('nobody')
  })

  test('of a custom library has all its roles and tools', async () => {
    const executor = { id: 'clerk', responsibility: 'Answers.', prompt: 'You answer.', tools: ['archive'] }
    const library = defineLibrary(
      { roles: [{ id: 'clerk', description: 'Answers.', atomic: executor }] },
      { tools: ['archive'] },
    )
    const { profile } = await load(numbers(2), { library })
    expect(profile).toEqual({ id: 'mine', roles: ['clerk'], tools: ['calculator', 'python_exec', 'archive'] })
  })
})

describe('programs', () => {
  oneAtATime()
  const pool = new SandboxPool({ concurrency: 1 })

  test('run against hidden tests, or are passed to check(candidate)', async () => {
    const stdin: GivenQuestion = {
      question: 'Print the double of the number that you read.',
      publicTests: [{ input: '1\n', output: '2\n' }],
      tests: [{ input: '21\n', output: '42\n' }],
      solution: 'print(2 * int(input()))',
      wrong: ['print(2)'],
    }
    const functional: GivenQuestion = {
      question: 'Add two numbers.',
      program: { mode: 'function', entryPoint: 'add' },
      tests: [{ input: '2\n3', output: '5' }],
      answer: 'def add(a, b):\n    return a + b\n',
      wrong: ['def add(a, b):\n    return a - b\n'],
    }
    const checked: GivenQuestion = {
      question: 'Add two numbers.',
      program: { mode: 'function', entryPoint: 'add', starterCode: 'def add(a, b):\n' },
      test: 'def check(candidate):\n    assert candidate(2, 3) == 5\n',
      solution: 'def add(a, b):\n    return a + b\n',
      wrong: ['def add(a, b):\n    return a - b\n'],
    }
    const set = await load([stdin, functional, checked])
    expect(set.metric).toBe('pass@1')
    for (const { references } of Object.values(set.splits)) {
      for (const reference of references.values()) {
        expect(set.scorer.needsSandbox!(reference)).toBe(true)
        const { answer, wrong } = set.scorer.solution!(reference)!
        expect(await set.scorer.score(answer, reference, { pool })).toMatchObject({
          score: 1,
          status: 'passed',
        })
        expect(await set.scorer.score(wrong![0]!, reference, { pool })).toMatchObject({
          score: 0,
          status: 'failed_tests',
        })
      }
    }
  })
})

describe('files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'Own Tasks-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const path = (name: string, rows: readonly GivenQuestion[]) => {
    writeFileSync(join(folder, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    return join(folder, name)
  }

  test('a single file is split and gives the name', async () => {
    const set = await ownTaskSet({ files: path('Ferry Fares.v2.jsonl', numbers(10)) })
    expect(set.name).toBe('ferry-fares')
    expect(set.files[0]).toMatchObject({ path: join(folder, 'Ferry Fares.v2.jsonl') })
    expect(set.notes[1]).toMatch(/\d are for training and \d held out, by a hash of their ids \(seed 42\)\.$/)
  })

  test('two files are train and test, with separate ids', async () => {
    const train = path('a.jsonl', numbers(2))
    const test = path('b.jsonl', numbers(4).slice(2))
    const { splits, name } = await ownTaskSet({ files: { train, test } })
    expect(splits['train']!.tasks.map(({ id }) => id)).toEqual(['train-q1', 'train-q2'])
    expect(splits['test']!.tasks.map(({ id }) => id)).toEqual(['test-q1', 'test-q2'])
    expect(name).toMatch(/^own-tasks-/)
    const wrong = path('c.jsonl', [{ ...numbers(3)[2]!, split: 'train' }])
    await expect(ownTaskSet({ files: { train, test: wrong } })).rejects.toThrow(
      "c.jsonl, row 1, field split: is 'train', but the question is in the source of 'test'.",
    )
  })

  test('an invalid name is refused', async () => {
    await expect(ownTaskSet({ files: path('d.jsonl', numbers(2)), name: 'My Task' })).rejects.toThrow(
      "'My Task'",
    )
  })
})

describe('defineTasks', () => {
  test('a lone surrogate is refused in questions from code too', async () => {
    const rows = [{ id: 'a\ud800', question: 'Why?', answer: '1' }]
    await expect(defineTasks({ name: 'mine', questions: rows }).load()).rejects.toThrow(
      "tasks 'mine', questions, row 1, field id: contains half of a surrogate pair",
    )
  })

  test('accepts lists and functions, and overrides what load is given', async () => {
    const tasks = defineTasks({
      name: 'mine',
      answer: 'text',
      train: async () => numbers(2),
      test: () => numbers(3).slice(2),
    })
    const set = await tasks.load({ answer: 'number', profile: { tools: [] } })
    expect(set.answerKind).toBe('text')
    expect(set.profile.tools).toEqual([])
    expect(set.splits['test']!.tasks).toHaveLength(1)
  })

  test('says what is missing', async () => {
    const bare = defineTasks({ name: 'mine', train: numbers(2) } as never) as DefinedTasks
    await expect(bare.load()).rejects.toThrow(
      "The tasks 'mine' have train. Give train and test, or questions.",
    )
    await expect(defineTasks({ name: 'mine', questions: () => [] }).load()).rejects.toThrow(
      "tasks 'mine', questions: must be a list",
    )
    await expect(load([{ question: 'a', answer: (() => 1) as never }, ...numbers(1)])).rejects.toThrow(
      'row 1, field answer',
    )
  })
})
