// The paper's training files in their official size and format but with made-up content: the draws must hit
// the rows named in the goldens.
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { describeShared, sharedPath } from '../../../test/shared.ts'
import type { BenchmarkName } from '../benchmarks/list.ts'
import { splitOf } from '../task-set.ts'
import { benchmarkTaskSet } from './benchmark-task-set.ts'

const folder = mkdtempSync(join(tmpdir(), 'official-'))

function write(file: string, content: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), content)
}

function link(file: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  symlinkSync(sharedPath('data', file), join(folder, file))
}

const rows = <T>(count: number, row: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => row(index))
const jsonLines = (values: readonly object[]) => values.map((value) => JSON.stringify(value)).join('\n')

describeShared('with the official training file', () => {
  const golden = (entry: string): number[] =>
    JSON.parse(readFileSync(sharedPath('conformance', 'sampling', 'memberships.json'), 'utf8'))[entry]
      .train_indices
  const trained = async (name: BenchmarkName) => {
    const set = await benchmarkTaskSet(name, { data: folder })
    return { set, questions: splitOf(set, 'train').tasks.map(({ question }) => question) }
  }

  test('AQuA-RAT trains on 100 of 97,467', async () => {
    const row = (index: number) => ({ question: `${index}`, options: ['A)1', 'B)2'], correct: 'A' })
    write('aqua/train.json', jsonLines(rows(97_467, row)))
    link('aqua/test.json')
    const { set, questions } = await trained('aqua')
    expect(questions).toEqual(golden('aqua_q1_train').map(String))
    expect(set.selection['deviation']).toBeUndefined()
  })

  test('TAT-QA trains on 100 of 13,215, and only its test split deviates', async () => {
    const question = (index: number) => ({
      uid: `q${index}`,
      question: `${index}`,
      answer: ['x'],
      answer_type: 'span',
      scale: '',
    })
    const table = (index: number) => ({
      table: { uid: `t${index}`, table: [['x']] },
      paragraphs: [],
      questions: rows(5, (inner) => question(5 * index + inner)),
    })
    write('tatqa/tatqa_dataset_train.json', JSON.stringify(rows(2643, table)))
    link('tatqa/tatqa_dataset_test_gold.json')
    const { set, questions } = await trained('tatqa')
    expect(questions).toEqual(golden('tatqa_q1_train').map(String))
    expect(set.selection['deviation']).toMatch(/^The paper's 1,669 test questions/)
  })

  test('TabFact trains on 100 of 92,283', async () => {
    const wanted = golden('tabfact_q1_train')
    // Tables with one to three statements, so that positions differ from table numbers.
    const statements: Record<string, [string[], number[], string]> = {}
    let count = 0
    for (let table = 0; count < 92_283; table += 1) {
      const size = Math.min(1 + (table % 3), 92_283 - count)
      const name = `t-${table}.csv`
      statements[name] = [rows(size, (inner) => `${count + inner}`), rows(size, () => 1), 'caption']
      const first = count
      if (wanted.some((position) => position >= first && position < first + size))
        write(`tabfact/data/all_csv/${name}`, 'a#b\n1#2\n')
      count += size
    }
    write('tabfact/tokenized_data/train_examples.json', JSON.stringify(statements))
    link('tabfact/tokenized_data/test_examples.json')
    const set = await benchmarkTaskSet('tabfact', { data: folder, test: 0 })
    expect(splitOf(set, 'train').tasks.map(({ question }) => question)).toEqual(wanted.map(String))
    expect(set.selection['deviation']).toBeUndefined()
  })

  test('LiveCodeBench and HumanEval train on the same 100 of 880', async () => {
    const row = (index: number) => ({
      question_title: '',
      question_content: `${index}`,
      platform: 'atcoder',
      question_id: `p${index}`,
      contest_id: '',
      contest_date: '',
      starter_code: '',
      difficulty: '',
      public_test_cases: '[]',
      private_test_cases: '[]',
      metadata: '{}',
    })
    const all = rows(1055, row)
    const cuts = [0, 400, 511, 612, 713, 880, 1055]
    for (const [index, name] of ['test', 'test2', 'test3', 'test4', 'test5', 'test6'].entries())
      write(`livecodebench/${name}.jsonl`, jsonLines(all.slice(cuts[index], cuts[index + 1])))
    link('humaneval/HumanEval.jsonl.gz')
    const { set, questions } = await trained('livecodebench')
    expect(questions).toEqual(golden('livecodebench_q1_train').map(String))
    expect(splitOf(set, 'test').tasks.map(({ question }) => question)).toEqual(
      rows(175, (index) => `${880 + index}`),
    )
    expect(set.selection['deviation']).toBeUndefined()
    const humaneval = await trained('humaneval')
    expect(humaneval.questions).toEqual(questions)
    expect(splitOf(humaneval.set, 'test').tasks).toHaveLength(164)
    expect(humaneval.set.selection['deviation']).toBeUndefined()
  })
})
