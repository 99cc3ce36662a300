import type { ModelIdentity } from '../models/chat-model.ts'
import { notInPaper, notNamed } from './settings.ts'

/** What a report says if the model is not the one that the paper asked in this experiment. */
export function modelDeviation({ provider, model }: ModelIdentity, paperModel: string): string | undefined {
  if (paperModel === notInPaper) return undefined
  if (paperModel === notNamed) return `The model is ${provider}/${model}; the paper does not name its own.`
  // Other hosts put an owner before the name and write it their own way: deepseek-ai/DeepSeek-V4-Flash.
  const name = model.slice(model.lastIndexOf('/') + 1)
  if (plain(name) === plain(paperModel)) return undefined
  return `The model is ${provider}/${model}; the paper's is ${paperModel}.`
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}
