import type { ModelIdentity } from '../models/chat-model.ts'
import { notInPaper, notNamed } from './settings.ts'

/** A note for the report if the model is not the paper's for this experiment. */
export function modelDeviation({ provider, model }: ModelIdentity, paperModel: string): string | undefined {
  if (paperModel === notInPaper) return undefined
  if (paperModel === notNamed) return `The model is ${provider}/${model}; the paper does not name its own.`
  // Other hosts add an owner and spell the name differently: deepseek-ai/DeepSeek-V4-Flash.
  const name = model.slice(model.lastIndexOf('/') + 1)
  if (plain(name) === plain(paperModel)) return undefined
  return `The model is ${provider}/${model}; the paper's is ${paperModel}.`
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}
