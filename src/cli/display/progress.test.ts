import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FakeTerminal } from '../../../test/fake-terminal.ts'
import { plainScreen } from '../../../test/plain-screen.ts'
import type { Display } from './choose-display.ts'
import { Progress } from './progress.ts'

const opened: Progress[] = []

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  for (const progress of opened.splice(0)) progress.end()
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

function open(display: Display, columns = 80, ascii = false) {
  const terminal = new FakeTerminal(columns)
  const progress = new Progress({
    display,
    stream: terminal.stream,
    screen: () => plainScreen(display === 'live' ? terminal.columns : undefined, ascii),
  })
  opened.push(progress)
  return { terminal, progress }
}

const fields = {
  score: { text: 'score 0.62', value: 0.62 },
  tokens: { text: 'tokens 1.2 M made, 0.4 M reused', value: 1_200_000 },
  cost: { text: '¥0.42 of ¥5.00', value: { amount: 0.42, currency: 'CNY' } },
}

test('live: shows a bar with its figures and the fields below', () => {
  const { terminal, progress } = open('live')
  progress.start(100, 'train')
  expect(terminal.lines).toEqual(['────────────────────  train  0/100  0 %'])
  for (let done = 1; done <= 25; done += 1) {
    vi.advanceTimersByTime(1000)
    progress.update({ done, fields })
  }
  vi.advanceTimersByTime(100)
  expect(terminal.lines).toEqual([
    '━━━━━───────────────  train  25/100  25 %  1.0/s  1 m 15 s left',
    '  score 0.62 · tokens 1.2 M made, 0.4 M reused · ¥0.42 of ¥5.00',
  ])
})

test('live: ends with the result', () => {
  const { terminal, progress } = open('live')
  progress.start(3, 'evaluate')
  vi.advanceTimersByTime(83_000)
  progress.update({ done: 3, fields })
  progress.end()
  expect(terminal.lines).toEqual([
    '✓ evaluate  3/3 in 1 m 23 s',
    '  score 0.62 · tokens 1.2 M made, 0.4 M reused · ¥0.42 of ¥5.00',
  ])
  expect(terminal.listenerCount('resize')).toBe(0)
})

test('live: stopped work says so, and a summary replaces the fields', () => {
  const { terminal, progress } = open('live', 60, true)
  progress.start(10, 'train')
  vi.advanceTimersByTime(5000)
  progress.update({ done: 4, fields })
  progress.end('budget reached\ncontinue: magic resume RUN')
  expect(terminal.lines).toEqual([
    '! train  stopped at 4/10 in 5.0 s',
    '  budget reached',
    '  continue: magic resume RUN',
  ])
})

test('live: a note stays above the bar and cannot drive the terminal', () => {
  const { terminal, progress } = open('live')
  progress.start(2, 'train')
  progress.note('checkpoint 1\u001b[2J\nwritten')
  progress.update({ done: 1 })
  progress.note('once more')
  expect(terminal.lines.slice(0, -1)).toEqual(['checkpoint 1\\u{1b}[2J', 'written', 'once more'])
  expect(terminal.lines.at(-1)).toMatch(/^[━─╸]+ {2}train {2}/)
})

test('live: paints at most ten frames a second, and always the last state', () => {
  const { terminal, progress } = open('live')
  progress.start(1000, 'train')
  const before = terminal.writes
  for (let done = 1; done <= 1000; done += 1) {
    vi.advanceTimersByTime(1)
    progress.update({ done })
  }
  vi.advanceTimersByTime(100)
  expect(terminal.writes - before).toBeLessThanOrEqual(11)
  expect(terminal.lines[0]).toContain('1000/1000  100 %')
})

test('live: the clock keeps running without updates', () => {
  const { terminal, progress } = open('live')
  progress.start(10, 'train')
  vi.advanceTimersByTime(1000)
  progress.update({ done: 1 })
  vi.advanceTimersByTime(100)
  expect(terminal.lines[0]).toContain('10 s left')
  for (let second = 0; second < 3; second += 1) vi.advanceTimersByTime(1000)
  expect(terminal.lines[0]).toContain('37 s left')
})

test('live: a resize repaints, clearing lines the terminal may have wrapped', () => {
  const { terminal, progress } = open('live', 80)
  progress.start(10, 'train')
  vi.advanceTimersByTime(100)
  progress.update({ done: 5, fields })
  progress.note('kept')
  terminal.resize(40)
  expect(terminal.lines).toEqual([
    'kept',
    '━━━━────',
    '  train  5/10  50 %  50/s  1 s left',
    '  score 0.62 · tokens 1.2 M made, 0.4 M',
    '  reused · ¥0.42 of ¥5.00',
  ])
  terminal.resize(80)
  expect(terminal.lines).toHaveLength(3)
})

test('live: on narrow terminals the bar shrinks, then the figures move below it uncut', () => {
  const linesAt = (columns: number) => {
    const { terminal, progress } = open('live', columns)
    progress.start(120, 'train')
    vi.advanceTimersByTime(1000)
    progress.update({ done: 59 })
    vi.advanceTimersByTime(100)
    return terminal.lines.map((line) => line.replace(/[━─╸]+/, '▬'))
  }
  expect(linesAt(60)).toEqual(['▬  train  59/120  49 %  54/s  1 s left'])
  expect(linesAt(40)).toEqual(['▬', '  train  59/120  49 %  54/s  1 s left'])
  expect(linesAt(24)).toEqual(['▬', '  train  59/120  49 %', '  54/s  1 s left'])
})

test('plain: prints the first item, each quarter, and a heartbeat every 30 seconds', () => {
  const { terminal, progress } = open('plain')
  progress.start(8, 'train')
  for (let done = 1; done <= 8; done += 1) {
    vi.advanceTimersByTime(10_000)
    progress.update({ done, fields: { score: fields.score } })
    if (done === 4) for (let pause = 0; pause < 4; pause += 1) vi.advanceTimersByTime(10_000)
  }
  progress.note('a note')
  progress.end()
  expect(terminal.lines).toEqual([
    'train: 1/8, 12 %, 6.0/min, 1 m 10 s left, score 0.62',
    'train: 2/8, 25 %, 6.0/min, 1 m 00 s left, score 0.62',
    'train: 4/8, 50 %, 6.0/min, 40 s left, score 0.62',
    'train: 4/8, 50 %, 3.4/min, 1 m 10 s left, score 0.62',
    'train: 5/8, 62 %, 3.0/min, 1 m 00 s left, score 0.62',
    'train: 6/8, 75 %, 3.6/min, 33 s left, score 0.62',
    'train: 8/8, 100 %, 4.0/min, score 0.62',
    'a note',
    'train: done, 8/8 in 2 m 00 s',
  ])
})

test('plain: resumed work starts where it left off, and stopped work prints its fields', () => {
  const { terminal, progress } = open('plain')
  progress.start(100, 'train', 60)
  vi.advanceTimersByTime(2000)
  progress.update({ done: 61, fields })
  progress.update({ done: 62 })
  progress.end()
  expect(terminal.lines).toEqual([
    'train: 61/100, 61 %, 30/min, 1 m 18 s left, score 0.62, tokens 1.2 M made, 0.4 M reused, ¥0.42 of ¥5.00',
    'train: stopped, 62/100 in 2.0 s, score 0.62, tokens 1.2 M made, 0.4 M reused, ¥0.42 of ¥5.00',
  ])
})

test('json: one object per line, at most one update a second', () => {
  const { terminal, progress } = open('json')
  progress.start(40, 'tr\u009bain')
  for (let done = 1; done <= 20; done += 1) {
    vi.advanceTimersByTime(100)
    progress.update({ done, fields })
  }
  progress.note('a\nnote\u001b')
  progress.end('stopped')
  expect(terminal.written).not.toMatch(/[^\n -~¥]/)
  const common = { label: 'tr\u009bain', total: 40 }
  const values = { score: 0.62, tokens: 1_200_000, cost: fields.cost.value }
  expect(
    terminal.written
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { type: 'progress-start', ...common, done: 0, elapsedSeconds: 0, fields: {} },
    {
      type: 'progress-update',
      ...common,
      done: 1,
      elapsedSeconds: 0.1,
      perSecond: 10,
      secondsLeft: 3.9,
      fields: values,
    },
    {
      type: 'progress-update',
      ...common,
      done: 11,
      elapsedSeconds: 1.1,
      perSecond: 10,
      secondsLeft: 2.9,
      fields: values,
    },
    { type: 'progress-note', text: 'a\nnote\u001b' },
    {
      type: 'progress-end',
      ...common,
      done: 20,
      elapsedSeconds: 2,
      perSecond: 10,
      secondsLeft: 2,
      fields: values,
      summary: 'stopped',
    },
  ])
})

test('none: writes nothing', () => {
  const { terminal, progress } = open('none')
  progress.start(2, 'train')
  progress.update({ done: 1, fields })
  progress.note('note')
  vi.advanceTimersByTime(60_000)
  progress.end('done')
  expect(terminal.written).toBe('')
})

test('one task follows another; calls outside a task are ignored', () => {
  const { terminal, progress } = open('plain')
  progress.end()
  progress.update({ done: 1 })
  progress.start(0, 'nothing')
  progress.start(1, '')
  progress.update({ done: 1 })
  progress.end()
  expect(terminal.lines).toEqual(['nothing: done, 0/0 in 0.0 s', '1/1, 100 %', 'done, 1/1 in 0.0 s'])
})

const anyText = fc.string({ unit: 'binary', maxLength: 60 })
const anyCount = fc.oneof(fc.integer({ min: -5, max: 2000 }), fc.double())

test('output never exceeds the terminal width and contains only our own control sequences', () => {
  const step = fc.record({
    done: anyCount,
    fields: fc.dictionary(anyText, fc.record({ text: anyText, value: anyText })),
    note: anyText,
    ms: fc.nat({ max: 40_000 }),
  })
  fc.assert(
    fc.property(
      fc.constantFrom('live' as const, 'plain' as const),
      fc.integer({ min: 10, max: 130 }),
      fc.tuple(anyCount, anyText, anyText),
      fc.array(step, { maxLength: 6 }),
      (display, columns, [total, label, summary], steps) => {
        const { terminal, progress } = open(display, columns)
        progress.start(total, label)
        for (const { done, fields, ms } of steps) {
          vi.advanceTimersByTime(ms)
          progress.update({ done, fields })
        }
        if (display === 'live') expect(terminal.widest).toBeLessThanOrEqual(columns - 1)
        progress.end(summary)
        for (const { note } of steps) progress.note(note)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what may be there
        const own = /\u001b\[(\d+A|[JK]|\?7[hl])|[\n\r\t]/gu
        expect(terminal.written.replace(own, '')).not.toMatch(
          /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u,
        )
      },
    ),
    { numRuns: 60, endOnFailure: true },
  )
})
