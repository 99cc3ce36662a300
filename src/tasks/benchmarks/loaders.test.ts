// Each loader on a small file of its official format: what becomes public, what becomes the reference, what
// is refused.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readFiles } from '../../../test/read-benchmark.ts'
import { aqua } from './aqua.ts'
import type { Examples } from './examples.ts'
import { gsm8k } from './gsm8k.ts'
import { humaneval } from './humaneval.ts'
import { livecodebench } from './livecodebench.ts'
import { mmluPro } from './mmlu-pro.ts'
import { strategyqa } from './strategyqa.ts'
import { tabfact } from './tabfact.ts'
import { tatqa } from './tatqa.ts'

const folder = mkdtempSync(join(tmpdir(), 'loaders-'))

function fileOf(content: unknown, name = 'data'): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const jsonLines = (...rows: object[]) => fileOf(rows.map((row) => JSON.stringify(row)).join('\n'))

/** The only example of a split. */
function only({ ids, tasks, references }: Examples) {
  expect(ids).toHaveLength(1)
  return { task: tasks.get(ids[0]!), reference: references.get(ids[0]!) }
}

describe('MMLU-Pro', () => {
  const row = {
    question_id: 70,
    question: 'Which?',
    options: ['one', 'two', 'N/A'],
    answer: 'A',
    answer_index: 1,
    category: 'business',
    src: 'origin',
  }
  test('the index decides, and "N/A" options are dropped', async () => {
    expect(only(await readFiles(mmluPro, jsonLines(row)))).toEqual({
      task: {
        id: '70',
        question: 'Which?',
        options: [
          { label: 'A', text: 'one' },
          { label: 'B', text: 'two' },
        ],
        metadata: { category: 'business', source: 'origin' },
      },
      reference: { kind: 'choice', label: 'B' },
    })
  })
  test('an index without an option, a repeated id and a wrong type are refused', async () => {
    await expect(readFiles(mmluPro, jsonLines({ ...row, answer_index: 2 }))).rejects.toThrow(
      /row 1, field answer_index/,
    )
    await expect(readFiles(mmluPro, jsonLines(row, row))).rejects.toThrow(
      /row 2, field question_id: the id '70'/,
    )
    await expect(readFiles(mmluPro, jsonLines({ ...row, options: 'one' }))).rejects.toThrow(/field options/)
  })
})

test('StrategyQA shows only the question', async () => {
  const row = {
    qid: 'q',
    question: 'Is it?',
    answer: true,
    facts: ['It is.'],
    term: 'It',
    description: 'This',
  }
  expect(only(await readFiles(strategyqa, fileOf([row])))).toEqual({
    task: { id: 'q', question: 'Is it?', metadata: {} },
    reference: { kind: 'boolean', value: true },
  })
  await expect(readFiles(strategyqa, fileOf([{ ...row, answer: 'maybe' }]))).rejects.toThrow(
    /field answer: is neither/,
  )
})

test('AQuA-RAT options lose their labels, and the rationale stays hidden', async () => {
  const row = { question: 'How much?', options: ['A)21', 'B) 5 km'], rationale: 'B is right', correct: 'b' }
  expect(only(await readFiles(aqua, jsonLines(row), { split: 'dev' }))).toEqual({
    task: {
      id: 'dev-0',
      question: 'How much?',
      options: [
        { label: 'A', text: '21' },
        { label: 'B', text: '5 km' },
      ],
      metadata: {},
    },
    reference: { kind: 'choice', label: 'B' },
  })
  await expect(readFiles(aqua, jsonLines({ ...row, correct: 'C' }), { split: 'dev' })).rejects.toThrow(
    /field correct: there is no option C/,
  )
  await expect(
    readFiles(aqua, jsonLines({ ...row, options: ['A)1', '2'] }), { split: 'dev' }),
  ).rejects.toThrow(/field options\[1\]/)
})

test('GSM8K takes the text after the last mark', async () => {
  const row = { question: 'How many?', answer: 'First #### 3, then\n#### 1,000 ' }
  expect(only(await readFiles(gsm8k, jsonLines(row), { split: 'test' }))).toEqual({
    task: { id: 'test-0', question: 'How many?', metadata: {} },
    reference: { kind: 'number-text', text: '1,000' },
  })
  await expect(readFiles(gsm8k, jsonLines(row, { ...row, answer: '5' }), { split: 'test' })).rejects.toThrow(
    /row 2, field answer: has no/,
  )
})

test('HumanEval shows the prompt, but not tests or solution', async () => {
  const row = {
    task_id: 'HumanEval/0',
    prompt: 'def f():\n',
    entry_point: 'f',
    canonical_solution: '    return 1\n',
    test: 'check',
  }
  expect(only(await readFiles(humaneval, jsonLines(row)))).toEqual({
    task: {
      id: 'HumanEval/0',
      question: 'def f():\n',
      program: { mode: 'function', starterCode: 'def f():\n', entryPoint: 'f' },
      metadata: {},
    },
    reference: {
      kind: 'humaneval',
      prompt: 'def f():\n',
      entryPoint: 'f',
      test: 'check',
      solution: { program: 'def f():\n    return 1\n' },
    },
  })
  const { canonical_solution: _, ...unsolved } = row
  expect(only(await readFiles(humaneval, jsonLines(unsolved))).reference).toMatchObject({
    solution: undefined,
  })
})

describe('LiveCodeBench', () => {
  const row = {
    question_title: 'Title',
    question_content: 'Content',
    platform: 'leetcode',
    question_id: '9001',
    contest_id: 'c',
    contest_date: '2025-01-01',
    starter_code: 'class Solution:',
    difficulty: 'easy',
    public_test_cases: '[{"input": "1", "output": "2", "testtype": "functional"}]',
    private_test_cases: '[{"input": "3", "output": "4", "testtype": "functional"}]',
    metadata: '{"func_name": "f"}',
  }
  test('public tests are public, private ones are not', async () => {
    const { task, reference } = only(await readFiles(livecodebench, [jsonLines(row)]))
    const program = { mode: 'function', starterCode: 'class Solution:', entryPoint: 'f' }
    const publicTests = [{ input: '1', output: '2', testtype: 'functional' }]
    expect(task).toEqual({
      id: '9001',
      question: 'Content',
      program,
      publicTests,
      metadata: {
        title: 'Title',
        platform: 'leetcode',
        difficulty: 'easy',
        contest: 'c',
        date: '2025-01-01',
      },
    })
    expect(reference).toEqual({
      kind: 'livecodebench',
      program,
      publicTests,
      privateTests: row.private_test_cases,
    })
  })
  test('solutions go into the reference only', async () => {
    const own = mkdtempSync(join(folder, 'solved-'))
    const path = join(own, 'test.jsonl')
    writeFileSync(path, JSON.stringify(row))
    const solutions = join(own, 'livecodebench/solutions.json')
    mkdirSync(dirname(solutions))
    const read = () => readFiles(livecodebench, path, { root: own })
    const bare = only(await read())
    writeFileSync(solutions, JSON.stringify({ 9001: { correct: 'right', wrong: 'wrong' } }))
    const split = await read()
    const { task, reference } = only(split)
    expect(task).toEqual(bare.task)
    expect(bare.reference).toMatchObject({ solution: undefined })
    expect(reference).toEqual({
      ...bare.reference,
      solution: { program: 'right', wrong: ['wrong'] },
    })
    expect(split.files.map((file) => file.path)).toEqual([path, solutions])
    writeFileSync(solutions, '{"9001": {"correct": 1}}')
    await expect(read()).rejects.toThrow(/solutions\.json, field 9001\.correct: /)
  })
  test('without a function name it reads standard input', async () => {
    const { task } = only(await readFiles(livecodebench, [jsonLines({ ...row, metadata: '{}' })]))
    expect(task?.program).toEqual({ mode: 'stdin', starterCode: 'class Solution:' })
  })
  test('damaged tests are named', async () => {
    const damaged = jsonLines({ ...row, private_test_cases: 'eJxLoTA=' })
    await expect(readFiles(livecodebench, [damaged])).rejects.toThrow(
      /row 1, field private_test_cases: cannot be decoded/,
    )
  })
  test('several files form one pool, and an id may occur only once', async () => {
    const first = fileOf(JSON.stringify(row), 'first')
    const second = fileOf(JSON.stringify({ ...row, question_id: '9002' }), 'second')
    expect((await readFiles(livecodebench, [first, second])).ids).toEqual(['9001', '9002'])
    await expect(readFiles(livecodebench, [first, first])).rejects.toThrow(
      /the id '9001' already occurs in row 1 of .*first/,
    )
  })
})

describe('TAT-QA', () => {
  const entry = (question: object) => [
    {
      table: {
        uid: 't',
        table: [
          ['', '2019'],
          ['Sales', '$ 5'],
        ],
      },
      paragraphs: [
        { uid: 'p2', order: 2, text: 'Second.' },
        { uid: 'p1', order: 1, text: 'First.' },
      ],
      questions: [{ uid: 'q', order: 1, question: 'How much?', ...question }],
    },
  ]
  const answered = {
    answer: ['$ 5'],
    answer_type: 'span',
    scale: 'million',
    derivation: 'x',
    answer_from: 'table',
  }
  test('tables become data, paragraphs stay in order, annotations are left out', async () => {
    expect(only(await readFiles(tatqa, fileOf(entry(answered))))).toEqual({
      task: {
        id: 't:q',
        question: 'How much?',
        context: ['First.', 'Second.'],
        tables: [
          {
            name: 't',
            rows: [
              ['', '2019'],
              ['Sales', '$ 5'],
            ],
          },
        ],
        metadata: {},
      },
      reference: { kind: 'tatqa', answerType: 'span', answers: ['$ 5'], scale: 'million' },
    })
  })
  test("numbers keep Python's text", async () => {
    const texts: unknown[] = []
    for (const number of ['2', '2.0', '1e-5', '12345678901234567890.0', '-0.50']) {
      const content = JSON.stringify(entry({ ...answered, answer: 'NUMBER', answer_type: 'arithmetic' }))
      const { reference } = only(await readFiles(tatqa, fileOf(content.replace('"NUMBER"', number))))
      texts.push(reference?.kind === 'tatqa' ? reference.answers[0] : undefined)
    }
    expect(texts).toEqual(['2', '2.0', '1e-05', '1.2345678901234567e+19', '-0.5'])
  })
  test('a count is an integer', async () => {
    const { reference } = only(
      await readFiles(tatqa, fileOf(entry({ ...answered, answer: ' 03', answer_type: 'count' }))),
    )
    expect(reference).toMatchObject({ answers: ['3'] })
  })
  test('withheld answers give tasks without references', async () => {
    const { task, reference } = only(await readFiles(tatqa, fileOf(entry({}))))
    expect([task?.id, reference]).toEqual(['t:q', undefined])
  })
  test('a partial answer and an answer of another type are refused', async () => {
    await expect(readFiles(tatqa, fileOf(entry({ answer: ['x'] })))).rejects.toThrow(
      /row 1, field questions\[0\]: .*together/,
    )
    const wrong = entry({ ...answered, answer_type: 'arithmetic' })
    await expect(readFiles(tatqa, fileOf(wrong))).rejects.toThrow(/field questions\[0\]\.answer: is not what/)
  })
})

describe('TabFact', () => {
  const tables = join(folder, 'tabfact/data/all_csv')
  mkdirSync(tables, { recursive: true })
  writeFileSync(join(tables, '1-2.html.csv'), 'player#goals\r\nann#3\r\nbob#\r\n')
  test('a statement comes with its table', async () => {
    const statements = { '1-2.html.csv': [['ann has 3 goals', 'bob has 3 goals'], [1, 0], 'cup'] }
    const split = await readFiles(tabfact, fileOf(statements), { root: folder })
    expect(split.ids).toEqual(['1-2.html.csv:0', '1-2.html.csv:1'])
    expect(split.tasks.get('1-2.html.csv:1')).toEqual({
      id: '1-2.html.csv:1',
      question: 'bob has 3 goals',
      tables: [
        {
          name: '1-2.html.csv',
          caption: 'cup',
          header: ['player', 'goals'],
          rows: [
            ['ann', '3'],
            ['bob', ''],
          ],
        },
      ],
      metadata: {},
    })
    expect([...split.references.values()].map((reference) => reference)).toEqual([
      { kind: 'boolean', value: true },
      { kind: 'boolean', value: false },
    ])
  })
  test('a statement without its table counts in the pool', async () => {
    const split = await readFiles(tabfact, fileOf({ 'gone.csv': [['x'], [1], ''] }), { root: folder })
    expect([split.ids, split.tasks.size]).toEqual([['gone.csv:0'], 0])
  })
  test('wrong labels and ids that leave the folder are refused', async () => {
    await expect(readFiles(tabfact, fileOf({ a: [['x'], [], ''] }), { root: folder })).rejects.toThrow(
      /1 statements but 0 labels/,
    )
    await expect(readFiles(tabfact, fileOf({ a: [['x'], [2], ''] }), { root: folder })).rejects.toThrow(
      /row 1, field \[1\]\[0\]/,
    )
    for (const id of ['../secret', '/etc/passwd', '..', 'a\u0000b', ''])
      await expect(readFiles(tabfact, fileOf({ [id]: [['x'], [1], ''] }), { root: folder })).rejects.toThrow(
        /not the name of a table/,
      )
    await expect(readFiles(tabfact, fileOf([]), { root: folder })).rejects.toThrow(/one JSON object/)
  })
})

test('only the wanted examples become tasks, but all count in the pool', async () => {
  const rows = ['a', 'b', 'c'].map((qid) => ({ qid, question: `${qid}?`, answer: true }))
  const split = await readFiles(strategyqa, fileOf(rows), { wanted: (position) => position === 1 })
  expect(split.ids).toEqual(['a', 'b', 'c'])
  expect([[...split.tasks.keys()], [...split.references.keys()]]).toEqual([['b'], ['b']])
})
