import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AllowanceStore, Claim, Ended, RateLimits, Sums } from './allowance-store.ts'

/** An empty store, and a second one on the same account and limiter. */
export interface SharedStores {
  readonly one: AllowanceStore
  readonly other: AllowanceStore
}

const long = 3_600_000

const claim = (input = 10, output = 20, money = 1): Claim => ({ id: randomUUID(), input, output, money })

const answered = (id: string, tokens = 5, money = 0.5): Ended => ({
  id,
  isAnswered: true,
  isUnknown: false,
  used: { input: tokens, cachedInput: 1, output: tokens, money },
})

const nothing: Sums = {
  ...{ calls: 0, input: 0, cachedInput: 0, output: 0, money: 0 },
  unknown: { attempts: 0, tokens: 0, money: 0 },
  reserved: { calls: 0, tokens: 0, money: 0 },
}

/** Tests that every allowance store must pass. */
export function allowanceContract(make: () => Promise<SharedStores>): void {
  describe('a budget', () => {
    test('without caps and limits admits and counts every call', async () => {
      const { one, other } = await make()
      expect(await one.sums()).toEqual(nothing)
      const claims = [claim(), claim(), claim()]
      expect(await one.take(claims, long)).toEqual({ admitted: 3, waitMs: 0 })
      expect(await other.sums()).toEqual({ ...nothing, reserved: { calls: 3, tokens: 90, money: 3 } })
      const [a, b, c] = claims.map(({ id }) => id)
      await other.settle([answered(a!), { id: b!, isAnswered: false, isUnknown: true }])
      await one.settle([{ id: c!, isAnswered: false, isUnknown: false }])
      expect(await one.sums()).toEqual({
        ...{ calls: 1, input: 5, cachedInput: 1, output: 5, money: 0.5 },
        unknown: { attempts: 1, tokens: 30, money: 1 },
        reserved: { calls: 0, tokens: 0, money: 0 },
      })
    })

    test('a repeated claim or settlement counts once', async () => {
      const { one, other } = await make()
      const claims = [claim(), claim()]
      await one.take(claims, long)
      expect(await one.take(claims, long)).toMatchObject({ admitted: 2 })
      const ended = claims.map(({ id }) => answered(id))
      await Promise.all([one.settle(ended), other.settle(ended), one.settle([ended[0]!])])
      expect(await one.sums()).toMatchObject({ calls: 2, input: 10, reserved: { calls: 0 } })
    })

    test.for([
      ['calls', { calls: 1 }],
      ['tokens', { tokens: 10 }],
      ['cost', { cost: 0.5 }],
    ] as const)('a cap on %s is exceeded by at most the calls in flight', async ([cap, caps]) => {
      const { one, other } = await make()
      await one.setCaps(caps)
      const claims = [claim(), claim(), claim()]
      expect(await one.take(claims, long)).toMatchObject({ admitted: 3 })
      await one.settle([answered(claims[0]!.id)])
      const late = [claim()]
      expect(await other.take(late, long)).toEqual({ admitted: 0, waitMs: 0, cap })
      // A claim that was admitted without the caller learning of it stays admitted.
      expect(await one.take(claims.slice(1), long)).toEqual({ admitted: 2, waitMs: 0, cap })
      await one.setCaps({ [cap]: 1000 })
      expect(await other.take(late, long)).toEqual({ admitted: 1, waitMs: 0 })
    })

    test('a cap of 0 admits nothing', async () => {
      const { one } = await make()
      await one.setCaps({ tokens: 0 })
      expect(await one.take([claim()], long)).toMatchObject({ admitted: 0, cap: 'tokens' })
    })

    test('an expired claim counts as possibly spent until it is settled', async () => {
      const { one, other } = await make()
      const [gone, late] = [claim(), claim()]
      await one.take([gone, late], -1)
      const lost = { attempts: 2, tokens: 60, money: 2 }
      expect(await other.sums()).toEqual({ ...nothing, unknown: lost })
      await other.setCaps({ tokens: 60 })
      expect(await other.take([claim()], long)).toMatchObject({ admitted: 0, cap: 'tokens' })
      await one.settle([answered(late.id)])
      expect(await other.sums()).toMatchObject({
        ...{ calls: 1, input: 5, output: 5 },
        unknown: { attempts: 1, tokens: 30, money: 1 },
      })
      expect(await other.take([claim()], long)).toMatchObject({ admitted: 1 })
    })

    test('whatever happens to calls, nothing is lost or counted twice', async () => {
      const fate = fc.constantFrom('answered', 'unknown', 'free', 'silent', 'late')
      await fc.assert(
        fc.asyncProperty(fc.array(fate, { maxLength: 30 }), fc.boolean(), async (fates, isSwapped) => {
          const { one, other } = await make()
          const before = await one.sums()
          const calls = fates.map((what) => ({ what, claim: claim() }))
          for (const { what, claim: wanted } of calls)
            await one.take([wanted], what === 'late' || what === 'silent' ? -1 : long)
          const ended = calls.flatMap(({ what, claim: { id } }): Ended[] => {
            if (what === 'silent') return []
            if (what === 'answered' || what === 'late') return [answered(id)]
            return [{ id, isAnswered: false, isUnknown: what === 'unknown' }]
          })
          await Promise.all([one.settle(ended), (isSwapped ? other : one).settle(ended.toReversed())])
          const count = (...kinds: string[]) => fates.filter((what) => kinds.includes(what)).length
          const after = await other.sums()
          expect(after.calls - before.calls).toBe(count('answered', 'late'))
          expect(after.input - before.input).toBe(5 * count('answered', 'late'))
          expect(after.unknown.attempts - before.unknown.attempts).toBe(count('unknown', 'silent'))
          expect(after.unknown.tokens - before.unknown.tokens).toBe(30 * count('unknown', 'silent'))
          expect(after.reserved).toEqual(before.reserved)
        }),
        { numRuns: 15 },
      )
    })
  })

  describe("a provider's limits", () => {
    const go = async (store: AllowanceStore, count: number, limits?: RateLimits) => {
      if (limits !== undefined) await store.setLimits(limits)
      const claims = Array.from({ length: count }, () => claim(600, 600))
      return { claims, ...(await store.take(claims, long)) }
    }

    test('requests are spread over the minute across all callers', async () => {
      const { one, other } = await make()
      const first = await go(one, 5, { requestsPerMinute: 1 })
      expect(first.admitted).toBe(1)
      expect(first.waitMs).toBeGreaterThan(0)
      expect(first.waitMs).toBeLessThanOrEqual(60_000)
      expect(await go(other, 1)).toMatchObject({ admitted: 0 })
    })

    test('tokens are spread too, and an excess reservation is returned', async () => {
      const { one, other } = await make()
      const first = await go(one, 2, { tokensPerMinute: 1200 })
      // 600 in and 600 out use up a whole minute.
      expect(first.admitted).toBe(1)
      expect(await go(other, 1)).toMatchObject({ admitted: 0 })
      await one.settle([answered(first.claims[0]!.id, 1)])
      expect(await go(other, 1)).toMatchObject({ admitted: 1 })
    })

    test('use beyond the reservation is waited for', async () => {
      const { one } = await make()
      const first = await go(one, 1, { tokensPerMinute: 60_000 })
      await one.settle([answered(first.claims[0]!.id, 60_000)])
      const next = await go(one, 1)
      expect(next.admitted).toBe(0)
      expect(next.waitMs).toBeGreaterThan(60_000)
    })

    test('after a rate-limit reply all callers pause, then ask less often', async () => {
      const { one, other } = await make()
      const { claims } = await go(one, 3)
      const refusal = { isAnswered: false, isUnknown: false, refused: { waitMs: 60_000 } }
      await one.settle([{ id: claims[0]!.id, ...refusal }])
      const { admitted, waitMs } = await go(other, 1)
      expect(admitted).toBe(0)
      expect(waitMs).toBeGreaterThan(0)
      expect(waitMs).toBeLessThanOrEqual(60_000)
      // A later refusal of a call in flight does not shorten the pause.
      await other.settle([{ id: claims[1]!.id, ...refusal, refused: {} }])
      expect(await go(one, 1)).toMatchObject({ admitted: 0 })
    })

    test('without a limit, a rate-limit reply sets one', async () => {
      const { one, other } = await make()
      const { claims } = await go(one, 2)
      await one.settle([{ id: claims[0]!.id, isAnswered: false, isUnknown: false, refused: {} }])
      // Two in twenty seconds, less a fifth.
      const next = await go(other, 3)
      expect(next.admitted).toBeLessThan(3)
      expect(next.waitMs).toBeGreaterThan(0)
    })

    test('after a rate-limit reply a single call goes first, across all callers', async () => {
      const { one, other } = await make()
      // Enough that the learned rate makes no call wait.
      const { claims } = await go(one, 1000)
      const refused = { isAnswered: false, isUnknown: false, refused: { waitMs: 0 } }
      await other.settle(claims.slice(0, 8).map(({ id }) => ({ id, ...refused })))
      const { admitted, waitMs } = await go(other, 5)
      expect(admitted).toBe(1)
      expect(waitMs).toBeGreaterThan(0)
    })
  })
}
