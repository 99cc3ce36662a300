import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { HubServer } from '../../test/hub-server.ts'
import { describeShared, sharedPath } from '../../test/shared.ts'
import { tinyOnnxModel } from '../../test/tiny-onnx-model.ts'
import { chooseEncoder } from './choose-encoder.ts'
import { HubUnavailableError } from './hub-file.ts'
import { lexicalEncoder } from './lexical-encoder.ts'

let folder: string
let offline: NodeJS.ProcessEnv
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'choose-'))
  offline = { XDG_CACHE_HOME: join(folder, 'cache'), HF_HUB_OFFLINE: '1' }
})

describe('without MiniLM', () => {
  test('falls back to the lexical encoder and says why', async () => {
    const { encoder, message } = await chooseEncoder({ environment: offline })
    expect(encoder).toBe(lexicalEncoder)
    expect(message).toBe(
      'Text encoder: lexical, because all-MiniLM-L6-v2 is not available. sentence-transformers/all-MiniLM-L6-v2/tokenizer.json ' +
        'cannot be fetched: it is not in the cache, and HF_HUB_OFFLINE is set',
    )
  })

  test('falls back when the hub does not have it', async () => {
    await using server = await HubServer.start()
    const environment = { XDG_CACHE_HOME: folder, HF_ENDPOINT: server.endpoint }
    const { encoder, message } = await chooseEncoder({ environment })
    expect(encoder).toBe(lexicalEncoder)
    expect(message).toMatch(/status 404/)
    expect(server.seen[0]!.path).toBe(
      '/sentence-transformers/all-MiniLM-L6-v2/resolve/c9745ed1d9f207416be6d2e6f8de32d1f16199bf/tokenizer.json',
    )
  })

  test('falls back when the cache is not writable', async () => {
    await using server = await HubServer.start()
    server.repository = 'sentence-transformers/all-MiniLM-L6-v2'
    server.lies = { 'x-repo-commit': 'c9745ed1d9f207416be6d2e6f8de32d1f16199bf' }
    server.small.set('tokenizer.json', Buffer.from('{}'))
    writeFileSync(join(folder, 'file'), '')
    const environment = { HF_HUB_CACHE: join(folder, 'file'), HF_ENDPOINT: server.endpoint }
    const { encoder, message } = await chooseEncoder({ environment })
    expect(encoder).toBe(lexicalEncoder)
    expect(message).toMatch(/ENOTDIR|EEXIST/)
  })

  test('refuses when MiniLM was asked for', async () => {
    const choice = chooseEncoder({ encoder: 'minilm', environment: offline })
    await expect(choice).rejects.toThrow(HubUnavailableError)
  })

  test('refuses a folder without the model file, naming both', async () => {
    const choice = chooseEncoder({ modelFolder: folder, environment: offline })
    await expect(choice).rejects.toThrow('download it from huggingface.co')
    await expect(choice).rejects.toThrow(`${folder} has no onnx/model.onnx or model.onnx`)
  })
})

test('uses the lexical encoder when asked for', async () => {
  const { encoder, message } = await chooseEncoder({ encoder: 'lexical' })
  expect(encoder).toBe(lexicalEncoder)
  expect(message).toBe('Text encoder: lexical, as requested.')
})

describeShared('with MiniLM in a folder', () => {
  test.each(['model.onnx', 'onnx/model.onnx'])('%s is used, and its vectors are cached', async (name) => {
    mkdirSync(join(folder, 'onnx'))
    writeFileSync(join(folder, name), tinyOnnxModel())
    copyFileSync(sharedPath('data', 'minilm', 'tokenizer.json'), join(folder, 'tokenizer.json'))
    const { encoder, message } = await chooseEncoder({ modelFolder: folder, environment: offline })
    expect(message).toMatch(/^Text encoder: all-MiniLM-L6-v2, run by onnxruntime-(node|web)\.$/)
    const embeddings = join(folder, 'cache', 'magic', 'embeddings')
    expect(existsSync(embeddings)).toBe(false)
    const [vector] = await encoder.encode(['What is 2 + 2?'])
    expect(vector).toHaveLength(384)
    expect(readdirSync(embeddings)).toEqual([`${encoder.fingerprint}.lines`])
  })
})
