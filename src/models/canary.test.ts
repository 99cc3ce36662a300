import { describe, expect, test } from 'vitest'
import { InstantClock } from '../../test/faults/instant-clock.ts'
import { deriveRandom } from '../numerics/random.ts'
import { CallLimit } from './call-limit.ts'
import { Canary } from './canary.ts'
import { type ChatModel, type ChatReply, type ChatRequest, paperDecoding } from './chat-model.ts'
import type { FailureKind } from './failure.ts'
import { callModel } from './retry.ts'

const good: ChatReply = { ok: true, text: 'x', finish: 'stop', warnings: [], durationMs: 1 }
const failure = (kind: FailureKind): ChatReply => ({
  ok: false,
  kind,
  message: `HTTP: ${kind}`,
  durationMs: 1,
})
const asking = (user: string): ChatRequest => ({ system: 's', user, decoding: paperDecoding })

/** An endpoint that decides by the request and its number. */
class Endpoint implements ChatModel {
  readonly identity = { provider: 'p', model: 'm', options: {} }
  readonly asked: string[] = []
  readonly controls: string[] = []
  readonly #says: (user: string, number: number) => FailureKind | undefined

  constructor(says: (user: string, number: number) => FailureKind | undefined) {
    this.#says = says
  }

  async ask({ user, isControl }: ChatRequest): Promise<ChatReply> {
    this.asked.push(user)
    if (isControl === true) this.controls.push(user)
    await new Promise(setImmediate)
    const kind = this.#says(user.trimEnd(), this.asked.length - 1)
    return kind === undefined ? good : failure(kind)
  }
}

function caller(endpoint: Endpoint, canary = new Canary(), others: readonly string[] = []) {
  const clock = new InstantClock()
  const ordinary = () => others.map(asking)
  return async (user: string) => {
    const { reply, attempts } = await callModel(endpoint, asking(user), {
      canary,
      ordinary,
      clock,
      limit: new CallLimit(4),
    })
    return [reply.ok ? 'ok' : reply.kind, attempts.length]
  }
}

describe('a rejection is believed', () => {
  test('at once if the server blames the request and the endpoint is alive', async () => {
    const tooLong: ChatReply = { ...failure('rejected'), blamesRequest: true } as ChatReply
    const asked: string[] = []
    const model: ChatModel = {
      identity: { provider: 'p', model: 'm', options: {} },
      ask: async ({ user }) => {
        asked.push(user)
        return user.startsWith('too long') ? tooLong : good
      },
    }
    const options = { canary: new Canary(), clock: new InstantClock(), limit: new CallLimit(4) }
    await callModel(model, asking('fine'), options)
    expect(await callModel(model, asking('too long'), options)).toMatchObject({
      reply: { kind: 'rejected' },
      attempts: [{}],
    })
    expect(asked.map((user) => user.trimEnd())).toEqual(['fine', 'too long', 'fine'])
  })

  test('if every attempt is rejected and the longest answered request is answered again', async () => {
    const endpoint = new Endpoint((user) => (user.startsWith('refused') ? 'rejected' : undefined))
    const call = caller(endpoint)
    await call('a-longer-one')
    await call('short')
    expect(await call('refused content')).toEqual(['rejected', 8])
    expect(endpoint.controls.map((user) => user.trimEnd())).toEqual(['a-longer-one', 'a-longer-one'])
  })

  test('before anything was answered, if an ordinary request succeeds', async () => {
    const endpoint = new Endpoint((user) => (user.length > 30_000 ? 'rejected' : undefined))
    const call = caller(endpoint)
    expect(await call('x'.repeat(40_000))).toEqual(['rejected', 8])
    expect(endpoint.controls.length).toBe(2)
    // As long as a node's requests: an endpoint that answers only toy requests is not alive.
    expect(endpoint.controls[0]!.length).toBeGreaterThan(3000)
  })
})

describe('a dead endpoint', () => {
  test('rejects everything from some point on', async () => {
    const endpoint = new Endpoint((_user, number) => (number < 2 ? undefined : 'rejected'))
    const call = caller(endpoint)
    await call('one')
    await call('two')
    expect(await call('three')).toEqual(['rejects_all', 1])
    expect(endpoint.asked.length).toBe(4)
  })

  test('rejects requests half as long as it accepted before', async () => {
    const endpoint = new Endpoint((user, number) =>
      user.length > (number < 1 ? 1000 : 500) ? 'rejected' : undefined,
    )
    const call = caller(endpoint)
    await call('x'.repeat(900))
    expect(await call('x'.repeat(600))).toEqual(['rejects_all', 1])
    expect(await call('x'.repeat(100))).toEqual(['ok', 1])
  })

  test('is not hidden by a cache that still answers known requests', async () => {
    const known = new Set<string>()
    const endpoint = new Endpoint((user, number) => {
      if (number < 3) known.add(user)
      return known.has(user) ? undefined : 'rejected'
    })
    const call = caller(endpoint)
    const question = 'How many of the old ferries cross the river in summer, and how many in winter, number'
    for (const number of ['one', 'two', 'three']) await call(`${question} ${number}?`)
    expect(await call(`${question} four?`)).toEqual(['rejects_all', 1])
  })

  test.each([
    ['not_found', 'not_found'],
    ['unauthorized', 'unauthorized'],
    ['redirected', 'redirected'],
    ['network', 'erratic'],
    ['bad_response', 'erratic'],
  ] as const)('fails the control call with %s: %s', async (kind, outcome) => {
    const endpoint = new Endpoint((user, number) =>
      number === 0 ? undefined : user === 'two' ? 'rejected' : kind,
    )
    const call = caller(endpoint)
    await call('one')
    expect((await call('two'))[0]).toBe(outcome)
  })
})

describe('an endpoint that answers control calls only', () => {
  const others = Array.from({ length: 30 }, (_, index) => `other ${index}`)

  test('also rejects ordinary requests about other questions', async () => {
    const endpoint = new Endpoint((user) => (user === 'one' ? undefined : 'rejected'))
    const call = caller(endpoint, new Canary(), others)
    await call('one')
    expect(await call('two')).toEqual(['rejects_all', 1])
    expect(endpoint.controls.map((user) => user.trimEnd())).toEqual(['one', ...others.slice(0, 20)])
  })

  test('differs from one that rejects many questions', async () => {
    const endpoint = new Endpoint((user) => (user === 'one' || user === 'other 7' ? undefined : 'rejected'))
    const call = caller(endpoint, new Canary(), others)
    await call('one')
    expect(await call('two')).toEqual(['rejected', 8])
    expect(endpoint.controls.length).toBe(2 * 9)
  })
})

describe('an endpoint that rejects intermittently', () => {
  test.each([2, 3, 5])('all requests except one in %s: no rejection is believed', async (period) => {
    const endpoint = new Endpoint((_user, number) => (number % period === 0 ? undefined : 'rejected'))
    const call = caller(endpoint)
    const outcomes = new Set<unknown>()
    for (let number = 0; number < 50; number += 1) outcomes.add((await call(`request ${number}`))[0])
    expect(outcomes).not.toContain('rejected')
  })

  test.each([0.3, 0.5, 0.6, 0.8])('at random with probability %s: hardly ever believed', async (share) => {
    const random = deriveRandom(7, 'rejections')
    let believed = 0
    for (let trial = 0; trial < 500; trial += 1) {
      const call = caller(
        new Endpoint((_user, number) => (number > 0 && random.uniform() < share ? 'rejected' : undefined)),
      )
      await call('one')
      for (const user of ['two', 'three']) if ((await call(user))[0] === 'rejected') believed += 1
    }
    // With half the attempts and one control call it would be about fifty.
    expect(believed).toBeLessThan(10)
  })

  test('answers at a later attempt: that counts, and later rejections are transport failures', async () => {
    const endpoint = new Endpoint((user, number) =>
      number === 1 || user === 'refused' ? 'rejected' : undefined,
    )
    const call = caller(endpoint)
    await call('one')
    expect(await call('two')).toEqual(['ok', 2])
    expect(await call('refused')).toEqual(['erratic', 4])
  })

  test('and fails otherwise in between: nothing is known about the request', async () => {
    const endpoint = new Endpoint((user, number) => {
      if (user !== 'two') return undefined
      return number === 3 ? 'server_error' : 'rejected'
    })
    const call = caller(endpoint)
    await call('one')
    expect(await call('two')).toEqual(['erratic', 8])
  })
})

test('control calls of one role do not vouch for another that is always refused', async () => {
  const model: ChatModel = {
    identity: { provider: 'p', model: 'm', options: {} },
    ask: async ({ system, user }) => {
      await new Promise(setImmediate)
      return system === 'refused' || user === 'bad' ? failure('rejected') : good
    },
  }
  const canary = new Canary()
  const call = (system: string, user: string) =>
    callModel(
      model,
      { ...asking(user), system },
      {
        canary,
        ordinary: () => [{ ...asking('other'), system }],
        clock: new InstantClock(),
        limit: new CallLimit(4),
      },
    )
  const [bad, refused] = await Promise.all([call('s', 'bad'), call('refused', 'fine')])
  expect([bad, refused].map(({ reply }) => !reply.ok && reply.kind)).toEqual(['rejected', 'rejects_all'])
})

test('a text without removable words is not repeated byte for byte', async () => {
  const endpoint = new Endpoint((user) => (user === 'bad' ? 'rejected' : undefined))
  const call = caller(endpoint)
  await call('七乘六等于多少？')
  await call('bad')
  expect(endpoint.controls[0]!.trimEnd()).toBe('七乘六等于多少？')
  expect(endpoint.controls[0]).not.toBe('七乘六等于多少？')
})

test('concurrent rejections share control calls, but only ones started after the rejection', async () => {
  const endpoint = new Endpoint((user) => (user.startsWith('refused') ? 'rejected' : undefined))
  const canary = new Canary()
  const call = caller(endpoint, canary)
  await call('one')
  const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => call(`refused ${index}`)))
  expect(new Set(outcomes.map(([kind]) => kind))).toEqual(new Set(['rejected']))
  expect(endpoint.controls.length).toBeLessThan(5)

  // The control call in flight was answered before the endpoint died; the next one is not.
  let isGone = false
  const going: Endpoint = new Endpoint((user) => {
    const kind = isGone || user.startsWith('refused') ? 'rejected' : undefined
    if (going.controls.length > 0) isGone = true
    return kind
  })
  const late = caller(going)
  await late('one')
  const first = late('refused 1')
  while (going.controls.length === 0) await new Promise(setImmediate)
  expect((await Promise.all([first, late('two')])).map(([kind]) => kind)).toContain('rejects_all')
})
