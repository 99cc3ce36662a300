import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { defaultLimits } from '../sources/data-file.ts'
import { readQuestionFile } from './question-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'questions-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const questions = async (path: string) =>
  (await readQuestionFile(path)).questions.map(({ question }) => question)

describe('JSON Lines', () => {
  const row = { question: 'Why?', answer: 'Because.' }

  test('are read plain and gzipped, with rows counted as lines', async () => {
    const text = `\ufeff${JSON.stringify(row)}\r\n\r\n${JSON.stringify({ ...row, id: 7, context: 'c' })}\n`
    for (const path of [file('a.jsonl', text), file('b.jsonl.gz', gzipSync(text))]) {
      const read = await readQuestionFile(path)
      expect(read.questions.map(({ at }) => [at.row, at.index])).toEqual([
        [1, 0],
        [3, 1],
      ])
      expect(read.questions[1]!.question).toMatchObject({ id: '7', context: ['c'] })
      expect(read.file.sha256).toMatch(/^[0-9a-f]{64}$/)
    }
  })

  test.each([
    [
      { ...row, anwser: 1 },
      "row 1, field anwser: there is no such field. Did you mean 'answer'? The fields are id, question, answer, ",
    ],
    [{ ...row, gold: 1 }, 'field gold: there is no such field. The fields are'],
    [{ ...row, question: ' ' }, 'row 1, field question: must not be blank.'],
    [{ question: 'Why?' }, 'row 1, field answer: is missing. Give the right answer, or tests for a program.'],
    [{ ...row, answer: null }, 'row 1, field answer: must be JSON other than null'],
    [{ ...row, options: ['one'] }, 'row 1, field options'],
    [{ ...row, metadata: { year: 3 } }, 'row 1, field metadata.year'],
    [{ ...row, split: 'Test' }, 'row 1, field split: a split is called'],
    [
      { ...row, tests: [{ input: '', output: '' }], test: 'x' },
      'row 1, field test: and tests are both given',
    ],
    [[row], 'row 1: is not an object'],
  ])('%j is refused', async (value, message) => {
    await expect(readQuestionFile(file('bad.jsonl', JSON.stringify(value)))).rejects.toThrow(message)
  })

  test.each([
    ['{"id":"q\\ud800","question":"?","answer":1}', 'row 2, field id: contains half of a surrogate pair'],
    ['{"question":"?","answer":"x","wrong":["\\udfff"]}', 'row 2, field wrong[0]: contains half of a'],
    [
      '{"question":"?","answer":1,"answer":2}',
      'row 2, field answer: occurs twice in the same object. Remove one',
    ],
    [
      '{"question":"?","answer":1,"metadata":{"a":"1","\\u0061":"2"}}',
      'row 2, field metadata.a: occurs twice',
    ],
  ])('%s is refused', async (line, message) => {
    await expect(readQuestionFile(file('bad.jsonl', `${JSON.stringify(row)}\n${line}\n`))).rejects.toThrow(
      message,
    )
  })

  test('a pipe without a writer is refused at once', async () => {
    const path = join(folder, 'pipe.jsonl')
    execFileSync('mkfifo', [path])
    await expect(readQuestionFile(path)).rejects.toThrow('is not a regular file. Give the path of one.')
  })

  test('an endlessly nested answer gives a message, not a stack overflow', async () => {
    const deep = `{"question":"?","answer":${'['.repeat(3000)}${']'.repeat(3000)}}`
    await expect(readQuestionFile(file('deep.jsonl', deep))).rejects.toThrow('nested too deeply')
  })

  test('limits hold', async () => {
    const path = file('long.jsonl', JSON.stringify(row))
    await expect(readQuestionFile(path, { limits: { ...defaultLimits, lineBytes: 10 } })).rejects.toThrow(
      'longer than 10',
    )
    await expect(readQuestionFile(file('cut.jsonl', '{"question": "Wh'))).rejects.toThrow('not valid JSON')
  })
})

describe('CSV', () => {
  test('columns become fields, other columns metadata, and empty cells nothing', async () => {
    const text =
      'ID,Question,answer,context,split,Topic\r\n1,"Who, me?",you,,train,people\r\n,"What\n""now""?",it,c,test,\r\n'
    expect(await questions(file('a.csv', text))).toEqual([
      { id: '1', question: 'Who, me?', answer: 'you', split: 'train', metadata: { Topic: 'people' } },
      { question: 'What\n"now"?', answer: 'it', context: ['c'], split: 'test' },
    ])
    expect(await questions(file('a.csv.gz', gzipSync(text)))).toHaveLength(2)
  })

  test('options may have their own columns or share one', async () => {
    const columns = 'question,option_b,option_a,option_c,answer\nq,two,one,,A\n'
    expect((await questions(file('o.csv', columns)))[0]!.options).toEqual([
      { label: 'A', text: 'one' },
      { label: 'B', text: 'two' },
    ])
    const one = 'question,options,answer,wrong\nq,one | two |three,A,B|C\n'
    expect((await questions(file('p.csv', one)))[0]).toMatchObject({
      options: ['one', 'two', 'three'],
      wrong: ['B', 'C'],
    })
  })

  test.each([
    [
      'question;answer\na;b\n',
      "row 1: there is no column 'question'; the columns are question;answer. Columns are separated by commas here, not by semicolons.",
    ],
    ['question\na\n', "there is no column 'answer'"],
    [
      'question,answer\na,b,c\n',
      'row 2: has 3 cells, but there are 2 columns. Quote cells that contain commas',
    ],
    ['question,answer,Answer\n', 'row 1, field Answer: there are two columns with this name.'],
    ['question,answer,\n', 'row 1: column 3 has no name.'],
    ['question,answer,tests\n', 'row 1, field tests: is not supported in CSV. Use JSON Lines'],
    ['question,answer,options,option_a\n', 'row 1, field options: cannot be combined with option_a'],
    ['question,answer\na,\n', 'row 2, field answer: is missing.'],
    ['question,answer\n', 'has no questions.'],
    ['', 'is empty.'],
  ])('%j is refused', async (text, message) => {
    await expect(readQuestionFile(file('bad.csv', text))).rejects.toThrow(message)
  })
})

test('a cell may be as long as a JSON Lines line', async () => {
  const path = file('long.csv', `question,answer,source\na,1,s\n"b\nb",2,${'x'.repeat(101)}\n`)
  const limits = { ...defaultLimits, lineBytes: 100 }
  await expect(readQuestionFile(path, { limits })).rejects.toThrow(
    'row 3, field source: is longer than 100 characters. Shorten it.',
  )
  expect((await readQuestionFile(path, { limits: { ...limits, lineBytes: 101 } })).questions).toHaveLength(2)
})

test('the file type follows from the extension', async () => {
  await expect(readQuestionFile(file('a.xlsx', 'x'))).rejects.toThrow(
    'Rename it to .jsonl, .jsonl.gz, .csv or .csv.gz.',
  )
  await expect(readQuestionFile(join(folder, 'none.jsonl'))).rejects.toThrow('there is no such file')
})
