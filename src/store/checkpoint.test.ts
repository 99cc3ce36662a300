import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { deriveRandom } from '../numerics/random.ts'
import { initializeParameters } from '../policy/initialization.ts'
import { type PolicyDimensions, parameterShapes } from '../policy/parameter-shapes.ts'
import {
  type Checkpoint,
  CheckpointError,
  type CheckpointIdentity,
  readCheckpoint,
  writeCheckpoint,
} from './checkpoint.ts'
import { parseSafetensors, serializeSafetensors } from './safetensors.ts'

const dimensions: PolicyDimensions = { semantic: 6, hidden: 8, maxUnits: 3, maxDepth: 4 }
const identity: CheckpointIdentity = {
  dimensions,
  library: 'library-one',
  encoder: 'encoder-one',
  arithmetic: 'separate',
}

function makeCheckpoint(update = 17, change: Partial<Checkpoint> = {}): Checkpoint {
  const random = deriveRandom(update, 'moments')
  const size = [...parameterShapes(dimensions).values()].reduce(
    (sum, shape) => sum + shape.reduce((product, extent) => product * extent, 1),
    0,
  )
  const moments = () => Float32Array.from({ length: size }, () => random.normal() * 1e-3)
  return {
    ...identity,
    seed: 5,
    update,
    parameters: initializeParameters(dimensions, update),
    optimizer: { step: update, first: moments(), second: moments() },
    ...change,
  }
}

let root = ''
let folder = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'checkpoint-'))
  folder = join(root, 'latest')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('reads back bit for bit', () => {
  test('weights, moments and the rest', async () => {
    const checkpoint = makeCheckpoint()
    await writeCheckpoint(folder, checkpoint)
    expect(readCheckpoint(folder)).toEqual(checkpoint)
    expect(readCheckpoint(folder, identity)).toEqual(checkpoint)
    expect(readdirSync(folder).sort()).toEqual(['optimizer.safetensors', 'policy.safetensors', 'state.json'])
    expect(readdirSync(root)).toEqual(['latest'])
  })

  test('every kind of float: signed zeros, subnormal, largest', async () => {
    const { optimizer, parameters } = makeCheckpoint()
    const odd = [0, -0, 1e-45, -1e-40, 3.4028234663852886e38, 1 + 2 ** -23]
    optimizer!.first.set(odd)
    const data = Float32Array.from(parameters.get('empty_graph')!.data)
    data.set(odd)
    const changed = new Map(parameters).set('empty_graph', { shape: [8], data })
    await writeCheckpoint(folder, makeCheckpoint(1, { optimizer: optimizer!, parameters: changed }))
    const read = readCheckpoint(folder)
    const bits = (values: ArrayLike<number>) => [...new Uint32Array(Float32Array.from(values).buffer)]
    expect(bits(read.parameters.get('empty_graph')!.data)).toEqual(bits(data))
    expect(bits(read.optimizer!.first)).toEqual(bits(optimizer!.first))
  })

  test('without an optimizer, for a policy that is only used', async () => {
    const { optimizer: _, ...checkpoint } = makeCheckpoint()
    await writeCheckpoint(folder, checkpoint)
    expect(readCheckpoint(folder)).toEqual(checkpoint)
    expect(readdirSync(folder).sort()).toEqual(['policy.safetensors', 'state.json'])
  })

  test('equal checkpoints are equal bytes', async () => {
    const bytes = async () => {
      await writeCheckpoint(folder, makeCheckpoint())
      return readdirSync(folder).map((name) => readFileSync(join(folder, name)))
    }
    expect(await bytes()).toEqual(await bytes())
  })
})

describe('overwriting an older checkpoint', () => {
  test('leaves only the newer one', async () => {
    await writeCheckpoint(folder, makeCheckpoint(1))
    const { optimizer: _, ...newer } = makeCheckpoint(2)
    await writeCheckpoint(folder, newer)
    expect(readCheckpoint(folder)).toEqual(newer)
    expect(readdirSync(folder).sort()).toEqual(['policy.safetensors', 'state.json'])
    expect(readdirSync(root)).toEqual(['latest'])
  })

  test('never touches a folder that is not a checkpoint', async () => {
    mkdirSync(folder)
    writeFileSync(join(folder, 'thesis.txt'), 'years of work')
    const write = () => writeCheckpoint(folder, makeCheckpoint())
    await expect(write).rejects.toThrow(`${folder}`)
    await expect(write).rejects.toThrow('it contains thesis.txt, which is not part of a checkpoint')
    expect(readFileSync(join(folder, 'thesis.txt'), 'utf8')).toBe('years of work')
    rmSync(folder, { recursive: true })
    writeFileSync(folder, 'a file')
    await expect(write).rejects.toThrow('ENOTDIR')
    expect(readFileSync(folder, 'utf8')).toBe('a file')
    expect(readdirSync(root)).toEqual(['latest'])
  })

  test('fails with the path and the space needed, and keeps the old one', async () => {
    writeFileSync(join(root, 'file'), '')
    const inside = join(root, 'file', 'latest')
    await expect(writeCheckpoint(inside, makeCheckpoint())).rejects.toThrow(
      /file\/latest \(\d+ bytes\) cannot be written: ENOTDIR.*\. Check the disk and resume; no partial/,
    )
    const { parameters } = makeCheckpoint()
    await writeCheckpoint(folder, makeCheckpoint(1))
    const lacking = new Map(parameters)
    lacking.delete('empty_graph')
    await expect(writeCheckpoint(folder, makeCheckpoint(2, { parameters: lacking }))).rejects.toThrow(
      'empty_graph',
    )
    await expect(writeCheckpoint(folder, makeCheckpoint(2, { seed: Number.NaN }))).rejects.toThrow('seed')
    const short = { step: 1, first: new Float32Array(3), second: new Float32Array(3) }
    await expect(writeCheckpoint(folder, makeCheckpoint(2, { optimizer: short }))).rejects.toThrow(
      'There are 3 and 3 moments',
    )
    expect(readCheckpoint(folder)).toEqual(makeCheckpoint(1))
  })
})

describe('damage is refused by name', () => {
  const refused = () => {
    try {
      readCheckpoint(folder, identity)
    } catch (error) {
      expect(error).toBeInstanceOf(CheckpointError)
      expect((error as Error).message).toContain(folder)
      return (error as Error).message
    }
    return 'it was accepted'
  }

  test('a missing folder', async () => {
    expect(refused()).toContain('state.json cannot be read (ENOENT)')
  })

  test.each(['policy.safetensors', 'optimizer.safetensors', 'state.json'])('a missing %s', async (name) => {
    await writeCheckpoint(folder, makeCheckpoint())
    rmSync(join(folder, name))
    expect(refused()).toContain(`${name} cannot be read (ENOENT)`)
  })

  test('truncation at every 4 KiB, by a byte, or to nothing', async () => {
    const wide = { ...dimensions, hidden: 24 }
    const parameters = initializeParameters(wide, 1)
    const size = [...parameters.values()].reduce((sum, { data }) => sum + data.length, 0)
    const optimizer = { step: 1, first: new Float32Array(size), second: new Float32Array(size) }
    const source = join(root, 'source')
    await writeCheckpoint(source, {
      ...identity,
      dimensions: wide,
      seed: 1,
      update: 1,
      parameters,
      optimizer,
    })
    let tried = 0
    for (const name of readdirSync(source)) {
      const { length } = readFileSync(join(source, name))
      // The last byte of the state is its final line end, which means nothing.
      const cuts = [name === 'state.json' ? length - 2 : length - 1]
      for (let cut = 0; cut < length; cut += 4096) cuts.push(cut)
      for (const cut of cuts) {
        cpSync(source, folder, { recursive: true })
        truncateSync(join(folder, name), cut)
        expect(() => readCheckpoint(folder), `${name} cut at ${cut}`).toThrow(
          name === 'state.json'
            ? `${name} is damaged`
            : `${name} has ${cut} bytes instead of ${length}: it is truncated`,
        )
        rmSync(folder, { recursive: true })
      }
      tried += cuts.length
    }
    expect(tried).toBeGreaterThan(40)
  })

  test('appended bytes', async () => {
    await writeCheckpoint(folder, makeCheckpoint())
    appendFileSync(join(folder, 'policy.safetensors'), 'x')
    expect(refused()).toContain('something was added to it')
  })

  test('a flipped bit anywhere in the tensors', async () => {
    await writeCheckpoint(folder, makeCheckpoint())
    const random = deriveRandom(1, 'flips')
    for (const name of ['policy.safetensors', 'optimizer.safetensors']) {
      const bytes = readFileSync(join(folder, name))
      const places = [
        0,
        7,
        8,
        9,
        bytes.length - 1,
        ...Array.from({ length: 20 }, () => Math.floor(random.uniform() * bytes.length)),
      ]
      for (const place of places) {
        const flipped = Buffer.from(bytes)
        flipped[place]! ^= 1 << Math.floor(random.uniform() * 8)
        writeFileSync(join(folder, name), flipped)
        expect(refused(), `byte ${place}`).toContain(`${name} is damaged`)
      }
      writeFileSync(join(folder, name), bytes)
    }
    expect(readCheckpoint(folder)).toEqual(makeCheckpoint())
  })

  test('a flipped bit anywhere in the state, unless it means the same', async () => {
    await writeCheckpoint(folder, makeCheckpoint())
    const path = join(folder, 'state.json')
    const bytes = readFileSync(path)
    let harmless = 0
    for (const [place, byte] of bytes.entries()) {
      const flipped = Buffer.from(bytes)
      flipped[place] = byte ^ (1 << (place % 7))
      writeFileSync(path, flipped)
      const message = refused()
      if (message === 'it was accepted') {
        // Between tokens, one white space is as good as another.
        expect([0x20, 0x0a]).toContain(byte)
        expect(readCheckpoint(folder)).toEqual(makeCheckpoint())
        harmless += 1
      } else expect(message).toContain('state.json is damaged')
    }
    expect(harmless).toBeLessThan(bytes.length / 10)
  })

  test('files mixed in from another checkpoint', async () => {
    const other = join(root, 'other')
    await writeCheckpoint(other, makeCheckpoint(3))
    await writeCheckpoint(folder, makeCheckpoint())
    cpSync(join(other, 'policy.safetensors'), join(folder, 'policy.safetensors'))
    expect(refused()).toContain('policy.safetensors is damaged: its digest is not the one')
  })

  test('a state of another version, or not JSON', async () => {
    await writeCheckpoint(folder, makeCheckpoint())
    const path = join(folder, 'state.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace('magic-checkpoint-v1', 'magic-checkpoint-v2'))
    expect(refused()).toContain('state.json is damaged or of another version')
    writeFileSync(path, 'hello')
    expect(refused()).toContain('state.json is damaged')
    writeFileSync(path, 'null')
    expect(refused()).toContain('state.json is damaged')
  })

  test('a number edited by hand', async () => {
    await writeCheckpoint(folder, makeCheckpoint())
    const path = join(folder, 'state.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"update": 17', '"update": 18'))
    expect(refused()).toContain('its digest does not match')
  })
})

describe('a checkpoint for another policy is refused with every difference', () => {
  const expectRefusal = async (expected: Partial<typeof identity>, ...parts: string[]) => {
    await writeCheckpoint(folder, makeCheckpoint())
    for (const part of [folder, 'it is for another policy', ...parts])
      expect(() => readCheckpoint(folder, expected)).toThrow(part)
  }

  test.each(['semantic', 'hidden', 'maxUnits', 'maxDepth'] as const)('another %s', async (name) => {
    const other = { ...dimensions, [name]: dimensions[name] + 1 }
    await expectRefusal(
      { ...identity, dimensions: other },
      `${name} is ${dimensions[name]}, not ${other[name]}`,
    )
  })

  test('another library or encoder', async () => {
    await expectRefusal({ library: 'two' }, 'its library is library-one, not two')
    await expectRefusal({ encoder: 'two' }, 'its encoder is encoder-one, not two')
    await expectRefusal({ arithmetic: 'fused' }, 'its arithmetic is separate, not fused')
  })

  test('another gain; the default is 1', async () => {
    await expectRefusal({ gain: 10 }, 'its gain is 1, not 10')
    expect(readCheckpoint(folder, { gain: 1 }).gain).toBeUndefined()
    await writeCheckpoint(folder, makeCheckpoint(17, { gain: 10 }))
    expect(readCheckpoint(folder, { gain: 10 }).gain).toBe(10)
    expect(() => readCheckpoint(folder, { gain: 1 })).toThrow('its gain is 10, not 1')
  })

  test('a gain of 1 leaves no trace in the files', async () => {
    await writeCheckpoint(folder, makeCheckpoint())
    const without = readFileSync(join(folder, 'state.json'))
    await writeCheckpoint(folder, makeCheckpoint(17, { gain: 1 }))
    expect(readFileSync(join(folder, 'state.json'))).toEqual(without)
  })

  test('several differences at once', async () => {
    await expectRefusal(
      { dimensions: { ...dimensions, hidden: 9, maxDepth: 5 }, library: 'x', encoder: 'y' },
      'hidden is 8, not 9',
      'maxDepth is 4, not 5',
      'library is library-one, not x',
      'encoder is encoder-one, not y',
    )
  })
})

/** Rewrites a file of a checkpoint and everything that vouches for it, like a malicious or careless tool. */
function forge(
  name: string,
  change: (tensors: Map<string, { shape: readonly number[]; data: Float32Array | Float64Array }>) => void,
): void {
  const path = join(folder, name)
  const tensors = new Map(parseSafetensors(readFileSync(path), path)) as Parameters<typeof change>[0]
  change(tensors)
  const digest = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex')
  const bytes = serializeSafetensors(tensors)
  writeFileSync(path, bytes)
  const { digest: _, ...state } = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'))
  state.files[name] = { bytes: bytes.length, sha256: digest(bytes) }
  writeFileSync(
    join(folder, 'state.json'),
    JSON.stringify({ ...state, digest: digest(JSON.stringify(state)) }),
  )
}

describe('tensors that do not match the policy are refused even with correct digests', () => {
  const expectRefusal = async (name: string, change: Parameters<typeof forge>[1], message: string) => {
    await writeCheckpoint(folder, makeCheckpoint())
    forge(name, () => {})
    expect(readCheckpoint(folder)).toEqual(makeCheckpoint())
    forge(name, change)
    expect(() => readCheckpoint(folder)).toThrow(message)
  }

  test('weights', async () => {
    const name = 'policy.safetensors'
    await expectRefusal(name, (tensors) => tensors.delete('empty_graph'), "'empty_graph': it is missing")
    await expectRefusal(
      name,
      (tensors) => tensors.set('extra', { shape: [1], data: new Float32Array(1) }),
      "'extra'",
    )
    const flat = { shape: [16], data: new Float32Array(16) }
    await expectRefusal(name, (tensors) => tensors.set('granularity_emb.weight', flat), 'its shape is [16]')
    const double = { shape: [8], data: new Float64Array(8) }
    await expectRefusal(
      name,
      (tensors) => tensors.set('empty_graph', double),
      'empty_graph in policy.safetensors is not of type F32',
    )
  })

  test('moments', async () => {
    const name = 'optimizer.safetensors'
    const moment = 'second_moment.empty_graph'
    await expectRefusal(name, (tensors) => tensors.delete(moment), "'empty_graph': it is missing")
    await expectRefusal(
      name,
      (tensors) => tensors.set(moment, { shape: [7], data: new Float32Array(7) }),
      'its shape is [7], but [8] is needed',
    )
    await expectRefusal(
      name,
      (tensors) => tensors.set(moment, { shape: [8], data: new Float64Array(8) }),
      'not of type F32',
    )
  })
})

test('a writer that is killed repeatedly always leaves a complete checkpoint', async () => {
  // The writer's update number is in its weights too, so a mixture would show.
  const module = JSON.stringify(new URL('./checkpoint.ts', import.meta.url).href)
  const script = `
    const { writeCheckpoint, readCheckpoint } = await import(${module})
    const folder = process.argv[1]
    const { parameters, ...rest } = readCheckpoint(folder)
    for (let update = rest.update + 1; ; update += 1) {
      const filled = new Map([...parameters].map(([name, { shape, data }]) => [name, { shape, data: data.map(() => update) }]))
      await writeCheckpoint(folder, { ...rest, update, parameters: filled })
      if (update === rest.update + 1) console.log('writing')
    }`
  await writeCheckpoint(folder, makeCheckpoint(0))
  const random = deriveRandom(1, 'kills')
  let last = 0
  for (let times = 0; times < 6; times += 1) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    await new Promise((resolve) => setTimeout(resolve, 5 + 40 * random.uniform()))
    child.kill('SIGKILL')
    await once(child, 'exit')
    const { update, parameters } = readCheckpoint(folder)
    expect(update).toBeGreaterThan(last)
    last = update
    for (const { data } of parameters.values())
      expect(Array.from(data).every((value) => value === update)).toBe(true)
  }
  await writeCheckpoint(folder, makeCheckpoint(1))
  expect(readdirSync(root)).toEqual(['latest'])
})

const python = '/usr/bin/python3'

test('PyTorch opens the weights under their names', async ({ skip }) => {
  if (spawnSync(python, ['-c', 'import torch']).status !== 0) skip(`${python} has no torch here`)
  const checkpoint = makeCheckpoint()
  await writeCheckpoint(folder, checkpoint)
  const script = `
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from checkpoint import read_safetensors
from graph import Dims
from network import PolicyNetwork
network = PolicyNetwork(Dims(*json.loads(sys.argv[3])))
network.load_state_dict(read_safetensors(Path(sys.argv[2])), strict=True)
print(json.dumps({name: [list(value.shape), value.flatten().tolist()] for name, value in network.state_dict().items()}))`
  const peer = fileURLToPath(new URL('../../bench/torch', import.meta.url))
  const sizes = JSON.stringify(Object.values(dimensions))
  const output = execFileSync(python, ['-c', script, peer, join(folder, 'policy.safetensors'), sizes], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  const opened = JSON.parse(output) as Record<string, [number[], number[]]>
  expect(Object.keys(opened).sort()).toEqual([...checkpoint.parameters.keys()].sort())
  for (const [name, { shape, data }] of checkpoint.parameters)
    expect(opened[name], name).toEqual([shape, Array.from(data)])
})
