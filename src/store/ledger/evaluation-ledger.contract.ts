import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { sampleAnswer, sampleEvaluation, sampleKey, sampleTrace } from '../../../test/ledger/samples.ts'
import type { ChatAnswer } from '../../models/chat-model.ts'
import type { TokenUsage } from '../../models/usage.ts'
import type { Evaluation, EvaluationKey } from './evaluation.ts'
import type { Ledger } from './ledger.ts'
import { memoryIn } from './ledger-memory.ts'

/** Tests that every ledger must pass. `make` opens an empty one. */
export function ledgerContract(make: () => Promise<Ledger>): void {
  const opened: Ledger[] = []
  const open = async () => {
    const ledger = await make()
    opened.push(ledger)
    return ledger
  }
  afterEach(async () => {
    for (const ledger of opened.splice(0)) await ledger.close()
  })

  describe('evaluations', () => {
    test('are found as they were kept', async () => {
      const ledger = await open()
      expect(await ledger.find(sampleKey(1))).toBeUndefined()
      expect(await keepSample(ledger, 1)).toEqual(sampleEvaluation(1))
      expect(await ledger.find(sampleKey(1))).toEqual(sampleEvaluation(1))
      expect(await ledger.findTrace('execution-1')).toEqual(sampleTrace(1))
    })

    test('an answer of null differs from no answer', async () => {
      const ledger = await open()
      const { answer: _, ...without } = sampleEvaluation(1)
      await ledger.keep(sampleKey(1), { ...without, status: 'unanswered', parse: 'invalid' }, unanswered(1))
      await ledger.keep(sampleKey(2), { ...sampleEvaluation(2), answer: null }, sampleTrace(2))
      expect(await ledger.find(sampleKey(1))).not.toHaveProperty('answer')
      expect(await ledger.find(sampleKey(2))).toHaveProperty('answer', null)
    })

    test('with any finite score and any answer', async () => {
      const ledger = await open()
      let number = 0
      await fc.assert(
        fc.asyncProperty(fc.double({ min: 0, max: 1, noNaN: true }), fc.jsonValue(), async (score, json) => {
          number += 1
          // -0 is the same score as 0, and JSON has only one.
          const answer = JSON.parse(JSON.stringify(json))
          const evaluation: Evaluation = { ...sampleEvaluation(number), score: score + 0, answer }
          await ledger.keep(sampleKey(number), evaluation, sampleTrace(number))
          expect(await ledger.find(sampleKey(number))).toEqual(evaluation)
        }),
        { numRuns: 50 },
      )
    })

    test('every part of the key counts', async () => {
      const ledger = await open()
      const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', 'a', '","', '\u0000', 'ä'))
      const arbitraryKey = fc.record({ graph: text, task: text, dataVersion: text, executor: text })
      const part = fc.constantFrom<keyof EvaluationKey>('graph', 'task', 'dataVersion', 'executor')
      let number = 0
      await fc.assert(
        fc.asyncProperty(arbitraryKey, part, text, async (key, part, other) => {
          number += 1
          const { task } = sampleKey(number)
          const own = { ...key, task: `${task} ${key.task}` }
          await ledger.keep(own, sampleEvaluation(number), sampleTrace(number))
          const changed = { ...own, [part]: part === 'task' ? `${task}-${other}` : other }
          const same = changed[part] === own[part]
          expect(await ledger.find(changed)).toEqual(same ? sampleEvaluation(number) : undefined)
          expect(await ledger.find({ ...own })).toEqual(sampleEvaluation(number))
        }),
        { numRuns: 100 },
      )
    })

    test('the parts of a key are separated', async () => {
      const ledger = await open()
      const key = { graph: 'ab', task: 'c', dataVersion: 'd', executor: 'e' }
      await ledger.keep(key, sampleEvaluation(1), sampleTrace(1))
      expect(await ledger.find({ ...key, graph: 'a', task: 'bc' })).toBeUndefined()
      expect(await ledger.find({ graph: 'c', task: 'ab', dataVersion: 'd', executor: 'e' })).toBeUndefined()
    })

    test('the first one wins; the cost of the second is kept too', async () => {
      const ledger = await open()
      await keepSample(ledger, 1)
      const second = { ...sampleEvaluation(1), score: 1, execution: 'again' }
      const stands = await ledger.keep(sampleKey(1), second, { ...sampleTrace(1), execution: 'again' })
      expect(stands).toEqual(sampleEvaluation(1))
      expect(await ledger.find(sampleKey(1))).toEqual(sampleEvaluation(1))
      expect(await ledger.findTrace('again')).toMatchObject({ cost: second.cost })
      expect(await ledger.size()).toEqual({ evaluations: 1, replies: 0, traces: 2 })
    })

    test('are not affected by later changes to the objects', async () => {
      const ledger = await open()
      const evaluation = { ...sampleEvaluation(1), answer: ['kept'] }
      await ledger.keep(sampleKey(1), evaluation, sampleTrace(1))
      evaluation.answer[0] = 'changed'
      expect(await ledger.find(sampleKey(1))).toHaveProperty('answer', ['kept'])
    })

    test('are listed in the order they were kept', async () => {
      const ledger = await open()
      const numbers = Array.from({ length: 600 }, (_, index) => (index * 7) % 600)
      await Promise.all(numbers.map((number) => keepSample(ledger, number)))
      const listed: { key: EvaluationKey; evaluation: Evaluation }[] = []
      for await (const entry of ledger.entries()) listed.push(entry)
      expect(listed).toEqual(
        numbers.map((number) => ({ key: sampleKey(number), evaluation: sampleEvaluation(number) })),
      )
    })

    test.for([Number.NaN, Number.POSITIVE_INFINITY, -0.1, 1.1])('a score of %d is refused', async (score) => {
      const ledger = await open()
      const evaluation = { ...sampleEvaluation(1), score }
      await expect(ledger.keep(sampleKey(1), evaluation, sampleTrace(1))).rejects.toThrow(RangeError)
      expect(await ledger.size()).toEqual({ evaluations: 0, replies: 0, traces: 0 })
    })

    test.for(['stopped', 'timed_out', 'aborted'] as const)('one that was %s is refused', async (status) => {
      const ledger = await open()
      const trace = { ...sampleTrace(1), status }
      await expect(ledger.keep(sampleKey(1), { ...sampleEvaluation(1), status }, trace)).rejects.toThrow(
        /no result to store/,
      )
      expect(await ledger.find(sampleKey(1))).toBeUndefined()
    })
  })

  describe('replies', () => {
    test('are found by digest, and the first one wins', async () => {
      const ledger = await open()
      expect(await ledger.findReply('d')).toBeUndefined()
      await ledger.keepReply('d', sampleAnswer(1))
      await ledger.keepReply('d', sampleAnswer(2))
      expect(await ledger.findReply('d')).toEqual(sampleAnswer(1))
      expect(await ledger.findReply('e')).toBeUndefined()
    })

    test('a failed call is refused', async () => {
      const ledger = await open()
      const failure = { ok: false, kind: 'network', message: '', durationMs: 0 } as unknown as ChatAnswer
      await expect(ledger.keepReply('d', failure)).rejects.toThrow(TypeError)
      expect(await ledger.findReply('d')).toBeUndefined()
    })
  })

  describe('observations', () => {
    test('are found by digest, and the first one wins', async () => {
      const ledger = await open()
      expect(await ledger.findObservation('d')).toBeUndefined()
      await ledger.keepObservation('d', { status: 'ok', result: { stdout: '\ud83d é😀\u0000' } })
      await ledger.keepObservation('d', { status: 'ok', result: { stdout: 'another' } })
      expect(await ledger.findObservation('d')).toEqual({
        status: 'ok',
        result: { stdout: '\ud83d é😀\u0000' },
      })
      expect(await ledger.findObservation('e')).toBeUndefined()
    })

    test('of any kind, with their keys in written order', async () => {
      const ledger = await open()
      let number = 0
      await fc.assert(
        fc.asyncProperty(fc.jsonValue(), async (json) => {
          number += 1
          const text = JSON.stringify(json)
          await ledger.keepObservation(`d${number}`, JSON.parse(text))
          expect(JSON.stringify(await ledger.findObservation(`d${number}`))).toBe(text)
        }),
        { numRuns: 50 },
      )
    })

    test('concurrent ones are kept once, separately from replies with the same digest', async () => {
      const ledger = await open()
      await ledger.keepReply('d', sampleAnswer(1))
      expect(await ledger.findObservation('d')).toBeUndefined()
      await Promise.all([1, 2, 3].map((number) => ledger.keepObservation('d', number)))
      expect(await ledger.findObservation('d')).toBe(1)
      expect(await ledger.findReply('d')).toEqual(sampleAnswer(1))
      expect(await ledger.size()).toEqual({ evaluations: 0, replies: 1, traces: 0 })
    })

    test('are not affected by later changes to the objects', async () => {
      const ledger = await open()
      const observation = { result: ['kept'] }
      await ledger.keepObservation('d', observation)
      observation.result[0] = 'changed'
      expect(await ledger.findObservation('d')).toEqual({ result: ['kept'] })
    })
  })

  describe('spending', () => {
    test('is zero at first', async () => {
      const ledger = await open()
      expect(await ledger.spending()).toEqual({ calls: 0, input: 0, cachedInput: 0, output: 0, unknown: 0 })
    })

    test('is the sum over all replies, and reuse costs nothing', async () => {
      const ledger = await open()
      const { usage: _, ...untold } = sampleAnswer(3)
      await ledger.keepReply('a', sampleAnswer(1))
      await ledger.keepReply('b', {
        ...sampleAnswer(2),
        text: '{"usage":{"input":1000}}',
        usage: { input: 7, cachedInput: 0, output: 2_000_000 },
      })
      await ledger.keepReply('c', untold)
      await ledger.findReply('a')
      await ledger.keepReply('a', sampleAnswer(4))
      await keepSample(ledger, 1)
      expect(await ledger.spending()).toEqual({
        calls: 3,
        input: 17,
        cachedInput: 4,
        output: 2_000_005,
        unknown: 1,
      })
    })

    test('with any usage a server reports', async () => {
      const count = fc.integer({ min: 0, max: 10_000_000 })
      const told = fc.option(fc.record({ input: count, cachedInput: count, output: count }), {
        nil: undefined,
      })
      await fc.assert(
        fc.asyncProperty(fc.array(told, { maxLength: 40 }), async (usages) => {
          const ledger = await open()
          const before = await ledger.spending()
          const { usage: _, ...untold } = sampleAnswer(1)
          const kept = usages.map((usage) =>
            ledger.keepReply(randomUUID(), usage === undefined ? untold : { ...untold, usage }),
          )
          await Promise.all(kept)
          const sum = (field: keyof TokenUsage) =>
            usages.reduce((all, usage) => all + (usage?.[field] ?? 0), before[field])
          expect(await ledger.spending()).toEqual({
            calls: before.calls + usages.length,
            input: sum('input'),
            cachedInput: sum('cachedInput'),
            output: sum('output'),
            unknown: before.unknown + usages.filter((usage) => usage === undefined).length,
          })
        }),
        { numRuns: 20 },
      )
    })
  })

  test('a trace of any size is found', async () => {
    const ledger = await open()
    const texts = ['', 'short', 'long and alike '.repeat(20_000), '\ud83d half a pair 😀']
    for (const [number, text] of texts.entries()) await ledger.keepTrace(sampleTrace(number, text))
    for (const [number, text] of texts.entries())
      expect(await ledger.findTrace(`execution-${number}`)).toEqual(sampleTrace(number, text))
    expect(await ledger.findTrace('none')).toBeUndefined()
  })

  describe('evaluated once', () => {
    const made = (number: number) => ({
      value: { evaluation: sampleEvaluation(number), trace: sampleTrace(number) },
      keep: true,
    })

    test('concurrent identical work is shared, then known to every process', async () => {
      const ledger = await open()
      const { evaluations } = memoryIn(ledger)
      let times = 0
      const evaluate = async () => {
        times += 1
        return made(1)
      }
      const ask = () => evaluations.once(sampleKey(1), evaluate)
      const together = await Promise.all([ask(), ask(), ask()])
      expect(together.map(({ origin }) => origin)).toEqual(['made', 'shared', 'shared'])
      expect(await memoryIn(ledger).evaluations.once(sampleKey(1), evaluate)).toEqual({
        value: { evaluation: sampleEvaluation(1) },
        origin: 'kept',
        isKept: true,
      })
      expect(times).toBe(1)
    })

    test('of two processes the first one counts, and both traces are kept', async () => {
      const ledger = await open()
      const go = Promise.withResolvers<ReturnType<typeof made>>()
      const slow = memoryIn(ledger).evaluations.once(sampleKey(1), () => go.promise)
      await memoryIn(ledger).evaluations.once(sampleKey(1), async () => made(1))
      go.resolve({ value: retried(1), keep: true })
      expect((await slow).value.evaluation).toEqual(sampleEvaluation(1))
      expect(await ledger.size()).toEqual({ evaluations: 1, replies: 0, traces: 2 })
    })

    test('an interrupted execution cannot be kept', async () => {
      const status = 'stopped'
      const cut = {
        evaluation: { ...sampleEvaluation(1), status },
        trace: { ...sampleTrace(1), status },
      } as const
      const ledger = await open()
      const { evaluations } = memoryIn(ledger)
      const kept = evaluations.once(sampleKey(1), async () => ({ value: cut, keep: true }))
      await expect(kept).rejects.toThrow(/no result to store/)
      const told = await evaluations.once(sampleKey(1), async () => ({ value: cut, keep: false }))
      expect(told).toEqual({ value: cut, origin: 'made', isKept: false })
      expect(await ledger.size()).toEqual({ evaluations: 0, replies: 0, traces: 0 })
    })
  })

  test('an observation is returned as it will be found later', async () => {
    const ledger = await open()
    const see = (result: Record<string, unknown>) => async () => ({
      value: { status: 'ok', result } as const,
      keep: true,
    })
    const first = memoryIn(ledger).observations
    const { value } = await first.once('k', see({ seen: 1, absent: undefined }))
    expect(Object.keys((value as { result: object }).result)).toEqual(['seen'])
    expect(await memoryIn(ledger).observations.once('k', see({ seen: 2 }))).toEqual({
      value: { status: 'ok', result: { seen: 1 } },
      origin: 'kept',
      isKept: true,
    })
  })
}

function keepSample(ledger: Ledger, number: number): Promise<Evaluation> {
  return ledger.keep(sampleKey(number), sampleEvaluation(number), sampleTrace(number))
}

function unanswered(number: number) {
  return { ...sampleTrace(number), status: 'unanswered' } as const
}

function retried(number: number) {
  const execution = 'retried'
  return {
    evaluation: { ...sampleEvaluation(number), execution },
    trace: { ...sampleTrace(number), execution },
  }
}
