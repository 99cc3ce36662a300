import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../problem.ts'
import { type HubOptions, hubFile } from './hub-file.ts'

export interface MinilmPaths {
  /** The ONNX export of the network. */
  readonly model: string
  /** `tokenizer.json`. */
  readonly tokenizer: string
}

// Pinned, so that vectors are the same everywhere. 90 MB.
const source = {
  repository: 'sentence-transformers/all-MiniLM-L6-v2',
  commit: 'c9745ed1d9f207416be6d2e6f8de32d1f16199bf',
}
const network = {
  path: 'onnx/model.onnx',
  sha256: '6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452',
}
export const pinnedTokenizer = {
  path: 'tokenizer.json',
  sha256: 'be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037',
}

/** The files in the hub's cache, downloaded if missing. */
export async function minilmFromHub(options: HubOptions): Promise<MinilmPaths> {
  const tokenizer = await hubFile({ ...source, ...pinnedTokenizer }, options)
  const model = await hubFile({ ...source, ...network }, options)
  return { model, tokenizer }
}

/** The files in a user's folder: a copy of the repository, or the two files side by side. */
export function minilmFromFolder(folder: string): MinilmPaths {
  const found = (names: readonly string[]) => {
    const path = names.map((name) => join(folder, name)).find((candidate) => existsSync(candidate))
    if (path === undefined)
      throw new Problem(
        `${folder} has no ${names.join(' or ')}: download it from huggingface.co/${source.repository}`,
      )
    return path
  }
  return { model: found(['onnx/model.onnx', 'model.onnx']), tokenizer: found(['tokenizer.json']) }
}
