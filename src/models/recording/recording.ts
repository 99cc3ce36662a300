import { type FileHandle, open } from 'node:fs/promises'
import {
  type ChatAnswer,
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  type ModelIdentity,
  requestDigest,
} from '../chat-model.ts'

/** One line of a recording. */
export interface RecordedCall {
  readonly version: 1
  readonly digest: string
  readonly identity: ModelIdentity
  readonly request: ChatRequest
  readonly reply: ChatAnswer
}

/**
 * Passes calls on to a model and writes each answer with its request to a file, one JSON object per line. Failures are not
 * answers and are not written. An existing file is continued.
 */
export class RecordingModel implements ChatModel {
  readonly identity: ModelIdentity
  readonly #model: ChatModel
  readonly #file: FileHandle
  /** Writes happen one after another, so that lines never mix. */
  #last: Promise<void> = Promise.resolve()

  private constructor(model: ChatModel, file: FileHandle) {
    this.identity = model.identity
    this.#model = model
    this.#file = file
  }

  static async open(model: ChatModel, path: string): Promise<RecordingModel> {
    // Tasks and answers may be private: nobody else reads a new file.
    const file = await open(path, 'a+', 0o600)
    const { size } = await file.stat()
    const end = Buffer.alloc(1)
    if (size > 0) await file.read(end, 0, 1, size - 1)
    // A line that a crash has cut off must not swallow the next one.
    if (size > 0 && end.toString() !== '\n') await file.appendFile('\n')
    return new RecordingModel(model, file)
  }

  /** The answer is on file before it is returned. */
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
