import { hash } from 'node:crypto'
import type { AnswerContract } from '../library/answer-contract.ts'
import { canonicalJson, type JsonValue } from '../library/json-value.ts'
import type { Library } from '../library/library.ts'
import type { DatasetProfile } from '../library/profiles.ts'
import type { ChatModel } from '../models/chat-model.ts'
import type { ExecutionSettings } from '../settings/execution.ts'
import {
  directInstructions,
  finalizerInstructions,
  nodeInstructions,
  toolInstructions,
} from './instructions.ts'
import { protocolVersion } from './protocol/response.ts'
import { emptyToolbox, type Toolbox } from './toolbox.ts'

/** Raise this whenever the request of a node changes; a test checks. */
const requestFormat = 'request-1'

/**
 * SHA-256 (hex) of everything except graph and task that affects an execution's answer. Part of an evaluation's key.
 * Time-outs, the call limit and prices do not count.
 */
export function executorFingerprint(options: {
  readonly model: Pick<ChatModel, 'identity'>
  readonly models?: Readonly<Record<string, Pick<ChatModel, 'identity'>>>
  readonly settings: Pick<ExecutionSettings, 'decoding' | 'budgets'>
  readonly library: Pick<Library, 'fingerprint'>
  readonly profile: Pick<DatasetProfile, 'tools'>
  readonly contract: AnswerContract
  readonly tools?: Toolbox
}): string {
  const { model, models, settings, library, profile, contract, tools = emptyToolbox } = options
  const { provider, model: name, options: extra } = model.identity
  const usable = [...new Set(profile.tools)].sort().flatMap((tool) => {
    const description = tools.tools.get(tool)?.description
    return description === undefined ? [] : [[tool, description]]
  })
  const parts: JsonValue = [
    requestFormat,
    protocolVersion,
    [nodeInstructions, toolInstructions, finalizerInstructions, directInstructions],
    [provider, name, extra],
    { ...settings.decoding },
    { ...settings.budgets },
    library.fingerprint,
    usable,
    // Another interpreter may print something else for the same program.
    usable.length === 0 ? null : (tools.sandbox?.kind ?? null),
    contract.description,
    // Left out when there are none, so that earlier fingerprints stay valid.
    ...(models === undefined ? [] : [furtherModels(models)]),
  ]
  return hash('sha256', canonicalJson(parts), 'hex')
}

function furtherModels(models: Readonly<Record<string, Pick<ChatModel, 'identity'>>>): JsonValue {
  return Object.fromEntries(
    Object.entries(models).map(([name, { identity }]) => [
      name,
      [identity.provider, identity.model, identity.options],
    ]),
  )
}
