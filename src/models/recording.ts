import { type FileHandle, open, readFile } from 'node:fs/promises'
import { Problem } from '../problem.ts'
import {
  type ChatAnswer,
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  cancelled,
  type ModelIdentity,
  requestDigest,
} from './chat-model.ts'

/** One line of a recording. */
interface RecordedCall {
  readonly version: 1
  readonly digest: string
  readonly identity: ModelIdentity
  readonly request: ChatRequest
  readonly reply: ChatAnswer
}

/**
 * Passes calls on to a model and appends each answer with its request to a file, one JSON object per line. Failures
 * are not recorded. An existing file is continued.
 */
export class RecordingModel implements ChatModel {
  readonly identity: ModelIdentity
  readonly #model: ChatModel
  readonly #file: FileHandle
  /** The last write. Writes are chained, so that lines never mix. */
  #last: Promise<void> = Promise.resolve()

  private constructor(model: ChatModel, file: FileHandle) {
    this.identity = model.identity
    this.#model = model
    this.#file = file
  }

  static async open(model: ChatModel, path: string): Promise<RecordingModel> {
    // Tasks and answers may be private, so only the owner can read a new file.
    const file = await open(path, 'a+', 0o600)
    const { size } = await file.stat()
    const end = Buffer.alloc(1)
    if (size > 0) await file.read(end, 0, 1, size - 1)
    // A line cut off by a crash must not swallow the next one.
    if (size > 0 && end.toString() !== '\n') await file.appendFile('\n')
    return new RecordingModel(model, file)
  }

  /** Returns only once the answer is on file. */
  async ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    const reply = await this.#model.ask(request, signal)
    if (!reply.ok) return reply
    const call: RecordedCall = {
      version: 1,
      digest: requestDigest(this.identity, request),
      identity: this.identity,
      request,
      reply,
    }
    const written = this.#last.then(() => this.#file.appendFile(`${JSON.stringify(call)}\n`))
    this.#last = written.catch(() => {})
    await written
    return reply
  }

  async close(): Promise<void> {
    await this.#last
    await this.#file.close()
    await this.#model.close?.()
  }
}

/**
 * Answers from a recording, without key or network. A request recorded several times gets its answers in order, then
 * the last one again. A request that was not recorded fails as `not_recorded`.
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
      throw new Problem(
        `${path} contains no recorded calls${broken > 0 ? ` (line ${broken} is not one)` : ''}.`,
      )
    return new ReplayModel(identity, answers)
  }

  async ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> {
    if (signal?.aborted) return cancelled
    const digest = requestDigest(this.identity, request)
    const answers = this.#answers.get(digest)
    if (answers === undefined) {
      const message = `The recording has no answer to request ${digest.slice(0, 12)}: record the run again with these settings.`
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
