import { readFile } from 'node:fs/promises'
import { Problem } from '../../problem.ts'
import {
  type ChatAnswer,
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  cancelled,
  type ModelIdentity,
  requestDigest,
} from '../chat-model.ts'
import type { RecordedCall } from './recording.ts'

/**
 * Answers from a recording, without a key or a network. A request that was recorded several times gets its answers in
 * their order, and the last one from then on. One that was not recorded fails as `not_recorded`.
 */
export class ReplayModel implements ChatModel {
  readonly identity: ModelIdentity
  readonly #answers: ReadonlyMap<string, readonly ChatAnswer[]>
  readonly #served = new Map<string, number>()

  private constructor(identity: ModelIdentity, answers: ReadonlyMap<string, readonly ChatAnswer[]>) {
    this.identity = identity
    this.#answers = answers
  }

  static async open(path: string): Promise<ReplayModel> {
    const answers = new Map<string, ChatAnswer[]>()
    let identity: ModelIdentity | undefined
    let broken = 0
    for (const [index, line] of (await readFile(path, 'utf8')).split('\n').entries()) {
      const call = readLine(line)
      if (call === undefined) {
        if (line !== '') broken = index + 1
        continue
      }
      identity ??= call.identity
      answers.set(call.digest, [...(answers.get(call.digest) ?? []), call.reply])
    }
    if (identity === undefined)
      throw new Problem(`${path} holds no recorded call${broken > 0 ? ` (line ${broken} is not one)` : ''}.`)
    return new ReplayModel(identity, answers)
  }

  async ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    if (signal?.aborted) return cancelled
    const digest = requestDigest(this.identity, request)
    const answers = this.#answers.get(digest)
    if (answers === undefined) {
      const message = `The recording holds no answer to request ${digest.slice(0, 12)}: record the run again with these settings.`
      return { ok: false, kind: 'not_recorded', message, durationMs: 0 }
    }
    const served = this.#served.get(digest) ?? 0
    this.#served.set(digest, served + 1)
    return answers[Math.min(served, answers.length - 1)]!
  }
}

/** A line cut off by a crash is skipped: its request counts as not recorded. */
function readLine(line: string): RecordedCall | undefined {
  try {
    const call = JSON.parse(line) as Partial<RecordedCall> | null
    const whole =
      call?.version === 1 && typeof call.digest === 'string' && typeof call.reply?.text === 'string'
    return whole && typeof call.identity?.model === 'string' ? (call as RecordedCall) : undefined
  } catch {
    return undefined
  }
}
