import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  paperDecoding,
  requestDigest,
} from './chat-model.ts'
import { RecordingModel, ReplayModel } from './recording.ts'

const folder = mkdtempSync(join(tmpdir(), 'recording-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const newFile = () => {
  files += 1
  return join(folder, `${files}.jsonl`)
}

const identity = { provider: 'test', model: 'm', options: { thinking: { type: 'disabled' } } }
const ask = (user: string): ChatRequest => ({ system: 's', user, decoding: paperDecoding })
const answer = (text: string): ChatReply => ({
  ok: true,
  text,
  finish: 'stop',
  usage: { input: 3, cachedInput: 1, output: 2 },
  warnings: [],
  durationMs: 5,
})
const failure: ChatReply = { ok: false, kind: 'server_error', message: 'no', durationMs: 1 }

/** Answers with the request's own text and a running number. */
function echo(): ChatModel & { asked: number } {
  return {
    identity,
    asked: 0,
    async ask({ user }) {
      this.asked += 1
      return user === 'fail' ? failure : answer(`${user} ${this.asked}`)
    },
  }
}

test('recorded calls are replayed without the model', async () => {
  const path = newFile()
  const recorder = await RecordingModel.open(echo(), path)
  const said = await Promise.all(['a', 'b\n"\u2028', 'c'].map((user) => recorder.ask(ask(user))))
  await recorder.close()
  const replay = await ReplayModel.open(path)
  expect(replay.identity).toEqual(identity)
  for (const [index, user] of ['a', 'b\n"\u2028', 'c'].entries())
    expect(await replay.ask(ask(user))).toEqual(said[index])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('repeated requests replay in order, then repeat the last answer', async () => {
  const path = newFile()
  const recorder = await RecordingModel.open(echo(), path)
  await recorder.ask(ask('a'))
  await recorder.ask(ask('a'))
  await recorder.close()
  const replay = await ReplayModel.open(path)
  const texts = []
  for (let i = 0; i < 3; i += 1) {
    const reply = await replay.ask(ask('a'))
    if (reply.ok) texts.push(reply.text)
  }
  expect(texts).toEqual(['a 1', 'a 2', 'a 2'])
})

test('failures are passed on unrecorded; replaying an unrecorded request says so', async () => {
  const path = newFile()
  const recorder = await RecordingModel.open(echo(), path)
  expect(await recorder.ask(ask('fail'))).toEqual(failure)
  await recorder.ask(ask('a'))
  await recorder.close()
  const replay = await ReplayModel.open(path)
  expect(await replay.ask(ask('fail'))).toMatchObject({ ok: false, kind: 'not_recorded' })
  const warmer = { ...ask('a'), decoding: { ...paperDecoding, temperature: 1 } }
  expect(await replay.ask(warmer)).toMatchObject({ kind: 'not_recorded' })
  expect(await replay.ask(ask('a'), AbortSignal.abort())).toMatchObject({ kind: 'cancelled' })
})

test('a line cut off by a crash costs only that line', async () => {
  const path = newFile()
  const first = await RecordingModel.open(echo(), path)
  for (const user of ['a', 'b']) await first.ask(ask(user))
  await first.close()
  truncateSync(path, statSync(path).size - 30)
  const second = await RecordingModel.open(echo(), path)
  await second.ask(ask('c'))
  await second.close()
  const replay = await ReplayModel.open(path)
  const found = await Promise.all(['a', 'b', 'c'].map((user) => replay.ask(ask(user))))
  expect(found.map((reply) => reply.ok)).toEqual([true, false, true])
})

test('each answer is on disk before it is returned', async () => {
  const path = newFile()
  const recorder = await RecordingModel.open(echo(), path)
  await recorder.ask(ask('a'))
  expect(readFileSync(path, 'utf8').split('\n').length).toBe(2)
  await recorder.close()
})

test('a file without recorded calls is refused', async () => {
  const path = newFile()
  writeFileSync(path, '')
  await expect(ReplayModel.open(path)).rejects.toThrow('contains no recorded calls.')
  appendFileSync(path, '{"version":1}\nnull\n')
  await expect(ReplayModel.open(path)).rejects.toThrow('line 2 is not one')
})

test("a request's digest covers everything that shapes the answer", () => {
  const one = requestDigest(identity, ask('a'))
  expect(one).toMatch(/^[0-9a-f]{64}$/)
  expect(requestDigest({ ...identity, options: { thinking: { type: 'disabled' } } }, ask('a'))).toBe(one)
  const others = [
    requestDigest({ ...identity, provider: 'x' }, ask('a')),
    requestDigest({ ...identity, model: 'x' }, ask('a')),
    requestDigest({ ...identity, options: {} }, ask('a')),
    requestDigest(identity, ask('b')),
    requestDigest(identity, { ...ask('a'), system: 'sa' }),
    requestDigest(identity, { ...ask('sa'), system: '' }),
    ...[{ temperature: 1 }, { maxOutputTokens: 1 }, { thinking: true }, { json: false }].map((change) =>
      requestDigest(identity, { ...ask('a'), decoding: { ...paperDecoding, ...change } }),
    ),
  ]
  expect(new Set([one, ...others]).size).toBe(others.length + 1)
})
