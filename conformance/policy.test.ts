import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { describeShared, sharedPath } from '../test/shared.ts'
import type { CaseResult } from './case.ts'
import type { OpenPolicy, PolicyImplementation } from './policy/implementation.ts'
import { implementations } from './policy/implementations.ts'
import { plain } from './policy/plain.ts'
import { runPolicyCases } from './policy.ts'

/** The parts of a golden file that the tests change. */
interface Golden {
  states: { name: string; expected: { actions: { action: unknown }[] } }[]
  invalid_graphs: { why: string; units: object[] }[]
  sequences: { updates: { expected: object }[] }[]
  cases: unknown[]
  expansions: unknown[]
}

interface SampledFrom {
  gradients: Record<string, number[]>
  weights_after: Record<string, number[]>
}

function shared(name: string): Golden {
  return JSON.parse(readFileSync(sharedPath('conformance/policy', name), 'utf8'))
}

/** Replaces the value at a path such as `states/0/expected/kl`; undefined removes it. */
function edit(root: object, path: string, change: (old: unknown) => unknown): void {
  const keys = path.split('/')
  const last = keys.pop()!
  const holder = keys.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], root)
  const record = holder as Record<string, unknown>
  const next = change(record[last])
  if (next === undefined) delete record[last]
  else record[last] = next
}

const plus = (by: number) => (old: unknown) => (old as number) + by
const flip = (old: unknown) => !old
const remove = () => undefined
const longer = (entry: unknown) => (old: unknown) => [...(old as unknown[]), entry]
const shorter = (old: unknown) => (old as unknown[]).slice(0, -1)
const become = (value: unknown) => () => value

async function run(folder: string, asked = implementations): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  for await (const result of runPolicyCases(folder, asked)) results.push(result)
  return results
}

/** Runs files written for a single test. Strings are written verbatim. */
async function runFiles(files: Record<string, unknown>, asked = [plain]): Promise<CaseResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'policy-conformance-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return run(folder, asked)
}

const failing = (results: CaseResult[]) => results.filter(({ failure }) => failure !== undefined)

/** The plain implementation with parts overridden. */
function changed(
  change: (policy: OpenPolicy) => Partial<OpenPolicy>,
  precision: PolicyImplementation['precision'] = 'float64',
): PolicyImplementation {
  return {
    name: 'changed',
    precision,
    async open(setup) {
      const policy = await plain.open(setup)
      return { ...policy, ...change(policy) }
    },
  }
}

describeShared('shared policy goldens', () => {
  test('every implementation passes', async () => {
    const results = await run(sharedPath('conformance/policy'))
    expect(failing(results)).toEqual([])
    const [tiny, learning] = [shared('tiny.json'), shared('learning.json')]
    const states = ['tiny', 'wide', 'shallow', 'saturated', 'full'].flatMap(
      (name) => shared(`${name}.json`).states,
    )
    const updates = shared('update.json').sequences.flatMap((sequence) => sequence.updates)
    const all = [
      states,
      tiny.invalid_graphs,
      learning.cases,
      learning.expansions,
      updates,
      ['update_full.json'],
    ]
    expect(results).toHaveLength(all.flat().length)
    expect(new Set(results.map(({ name }) => name)).size).toBe(results.length)
  })

  test.each<[string, string, (old: unknown) => unknown]>([
    ['exit_depths', 'exit_depths', longer(1)],
    ['context[2]', 'context/2', plus(1e-6)],
    ['node_states[1][0]', 'node_states/1/0', plus(1e-6)],
    ['there are 2 node_states', 'node_states', shorter],
    ['role_mask[0]', 'role_mask/0', flip],
    ['granularity_mask[1]', 'granularity_mask/0/1', flip],
    ['edge_mask[0]', 'edge_mask/0/0/0', flip],
    ['role_logits[4]', 'role_logits/4', plus(1e-6)],
    ['granularity_logits[0]', 'granularity_logits/0/0', plus(1e-6)],
    ['edge_logits[0]', 'edge_logits/0/0/0', plus(1e-6)],
    ['edge_logits has 16 entries, expected 17', 'edge_logits/0/0', longer(0)],
    ['logprob of action 1', 'actions/1/logprob', plus(1e-6)],
    ['illegal action 0', 'illegal_actions', become([{ type: 'stop' }])],
    ['entropy', 'entropy', plus(1e-6)],
    ['kl', 'kl', plus(1e-6)],
    ['"value"', 'value', become(1)],
    ['expected.kl', 'kl', remove],
  ])('changing %s of a state fails that case only', async (what, path, change) => {
    const file = shared('tiny.json')
    const name = 'two-atomic-serial-dropout-hot'
    edit(file.states.find((state) => state.name === name)!.expected, path, change)
    const wrong = failing(await runFiles({ 'other.json': file }))
    expect(wrong).toEqual([{ name: `other.json ${name}`, failure: expect.stringContaining(what) }])
  })

  test.each<[string, (old: unknown) => unknown]>([
    ['weights/policy/edge_mlp.0.bias/data/0', plus(0.01)],
    ['weights/reference/gru.bias_hh/data/0', plus(0.01)],
    ['library/roles/0/embedding/0', plus(0.01)],
    ['library/compatible/0/0', flip],
    ['queries/0/0', plus(0.01)],
    ['states/0/query', become(1)],
    ['states/0/temperature', become(1.7)],
    ['states/0/restriction', become('all-atomic')],
    ['states/0/dropout_keep/0', become('10111111')],
    ['dims/max_depth', become(2)],
    ['dropout_rate', become(0.2)],
  ])('changing %s fails', async (path, change) => {
    const file = shared('tiny.json')
    file.states = file.states.filter(({ name }) => name === 'two-atomic-serial-dropout-hot')
    edit(file, path, change)
    expect(failing(await runFiles({ 'tiny.json': file }))).toHaveLength(1)
  })

  test('a valid graph listed as refused fails, and so does an unrelated error', async () => {
    const file = shared('tiny.json')
    file.states = []
    file.invalid_graphs.push({ why: 'nothing', units: [] })
    file.invalid_graphs.push({ why: 'twice', units: [atomic([]), atomic([0, 0])] })
    file.invalid_graphs.push({ why: 'unknown role', units: [{ ...atomic([]), role: 99 }] })
    expect(failing(await runFiles({ 'a.json': file }))).toEqual([
      { name: 'a.json invalid graph: nothing', failure: 'plain: the graph was not refused' },
    ])
    const crashing = changed(() => ({
      evaluate: () => {
        throw new TypeError('undefined is not a function')
      },
    }))
    const [first] = await runFiles({ 'a.json': file }, [crashing])
    expect(first!.failure).toContain('undefined is not a function')
  })

  test('an illegal action may have probability zero or throw', async () => {
    const unlikely = changed(({ evaluate }) => ({
      evaluate(decision) {
        const evaluation = evaluate(decision)
        const orMinusInfinity: typeof evaluation.logProbability = (action) => {
          try {
            return evaluation.logProbability(action)
          } catch {
            return Number.NEGATIVE_INFINITY
          }
        }
        return { ...evaluation, logProbability: orMinusInfinity }
      },
    }))
    expect(failing(await runFiles({ 'tiny.json': shared('tiny.json') }, [unlikely]))).toEqual([])
  })

  test('each implementation runs under its own name and tolerances', async () => {
    const nudged = (by: number, precision: PolicyImplementation['precision']) =>
      changed(
        ({ evaluate }) => ({
          evaluate(decision) {
            const evaluation = evaluate(decision)
            return { ...evaluation, entropy: evaluation.entropy + by }
          },
        }),
        precision,
      )
    const file = { 'shallow.json': shared('shallow.json') }
    expect(failing(await runFiles(file, [plain, nudged(5e-6, 'float32')]))).toEqual([])
    const wrong = failing(await runFiles(file, [plain, nudged(5e-6, 'float64')]))
    expect(wrong).toHaveLength(6)
    expect(wrong[0]!.failure).toMatch(/^changed: entropy is [^;]*$/)
    // Logits in the hundreds get their own row, whatever the file name.
    expect(
      failing(await runFiles({ 'x.json': shared('saturated.json') }, [nudged(9e-4, 'float32')])),
    ).toEqual([])
    expect(failing(await runFiles(file, [nudged(9e-4, 'float32')]))).toHaveLength(6)
  })

  test.each<[string, string, (old: unknown) => unknown]>([
    ['returns[0][1]', 'returns/0/1', plus(1e-6)],
    ['advantages[1][0]', 'advantages/1/0', plus(1e-5)],
    ['logprobs[0][0]', 'logprobs/0/0', plus(1e-6)],
    ['kls has 2 lists', 'kls', shorter],
    ['entropies[1][1]', 'entropies/1/1', plus(1e-6)],
    ['loss', 'loss', plus(1e-6)],
    ['policy_loss', 'policy_loss', plus(1e-6)],
    ['mean_kl', 'mean_kl', plus(1e-6)],
    ['mean_entropy', 'mean_entropy', plus(1e-6)],
    ['gradient gru.bias_ih[3]', 'gradients/gru.bias_ih/3', plus(1e-6)],
    ['gradient empty_graph is not', 'gradients/empty_graph', remove],
    ['gradient more has no', 'gradients/more', become([0])],
    ['has neither gradients', 'gradients', remove],
    ['weights_after empty_graph[0]', 'weights_after/empty_graph/0', plus(1e-6)],
  ])('changing %s of an update fails that case only', async (what, path, change) => {
    const file = shared('update.json')
    file.sequences = file.sequences.slice(0, 1)
    edit(file.sequences[0]!.updates[2]!.expected, path, change)
    const wrong = failing(await runFiles({ 'update.json': file }))
    expect(wrong).toEqual([{ name: 'update.json main update 2', failure: expect.stringContaining(what) }])
  })

  test('sampled tensors are compared like full ones', async () => {
    const { sequences, ...rest } = shared('update.json')
    const update = sequences[0]!.updates[0]!
    const { gradients, weights_after, ...scalars } = update.expected as SampledFrom
    const tensors = Object.entries(gradients).map(([name, gradient]) => {
      const index = [gradient.length - 1, 0]
      const at = (all: number[]) => index.map((position) => all[position])
      const norm = Math.hypot(...gradient)
      return [name, { norm, index, gradient: at(gradient), after: at(weights_after[name]!) }] as const
    })
    const file = {
      ...rest,
      update: { ...update, expected: { ...scalars, tensors: Object.fromEntries(tensors) } },
    }
    expect(await runFiles({ 'sampled.json': file })).toEqual([{ name: 'sampled.json update' }])
    for (const field of ['norm', 'gradient/1', 'after/0']) {
      const wrong = structuredClone(file)
      edit(wrong.update.expected.tensors, `node_norm.bias/${field}`, plus(1e-6))
      const [result] = await runFiles({ 'sampled.json': wrong })
      expect(result!.failure, field).toContain('node_norm.bias')
    }
  })

  test('an implementation that forgets its moments fails from the second update on', async () => {
    const forgetful: PolicyImplementation = {
      ...plain,
      name: 'forgetful',
      async open(setup) {
        let policy = await plain.open(setup)
        return {
          ...policy,
          update(group, settings) {
            const updated = policy.update(group, settings)
            const weights = [...updated.weightsAfter].map(([name, data]) => {
              const { shape } = setup.policy.get(name)!
              return [name, { shape, data: Float64Array.from(data) }] as const
            })
            policy = plain.open({ ...setup, policy: new Map(weights) }) as OpenPolicy
            return updated
          },
        }
      },
    }
    const file = shared('update.json')
    file.sequences = file.sequences.slice(0, 2)
    const wrong = failing(await runFiles({ 'update.json': file }, [forgetful])).map(({ name }) => name)
    expect(wrong).toEqual([
      'update.json main update 1',
      'update.json main update 2',
      'update.json encoder-unreached-at-first update 1',
      'update.json encoder-unreached-at-first update 2',
    ])
  })

  test('an error in one implementation does not shift the results of the others', async () => {
    const failsOnce = changed(({ update }) => {
      let updates = 0
      return {
        update(group, settings) {
          updates += 1
          const updated = update(group, settings)
          if (updates === 1) throw new Error('out of memory')
          return updated
        },
      }
    })
    const file = shared('update.json')
    file.sequences = file.sequences.slice(0, 1)
    expect(failing(await runFiles({ 'update.json': file }, [failsOnce, plain]))).toEqual([
      { name: 'update.json main update 0', failure: 'changed: Error: out of memory' },
    ])
  })
})

test('an unusable file is a failing case that names it', async () => {
  const wrong = await runFiles({
    'damaged.json': '{"states": [',
    'empty.json': {},
    'list.json': [],
    'nothing.json': 'null',
    'bare.json': { states: [{}] },
    'absent.json': {
      dims: { semantic: 1, hidden: 1, max_units: 1, max_depth: 1 },
      dropout_rate: 0.1,
      library: { roles: [], compatible: [] },
      files: { policy: 'gone.safetensors', reference: 'gone.safetensors', embeddings: 'gone.safetensors' },
      states: [{}],
    },
    'notes.txt': 'not looked at',
  })
  expect(wrong.map(({ name }) => name)).toEqual([
    'absent.json',
    'bare.json',
    'damaged.json',
    'empty.json',
    'list.json',
    'nothing.json',
  ])
  const [absent, bare, damaged, ...empty] = wrong.map(({ failure }) => failure)
  expect(absent).toContain('gone.safetensors')
  expect(bare).toContain('malformed: dims')
  expect(damaged).toContain('JSON')
  for (const failure of empty) expect(failure).toContain('it has no states')
})

function atomic(predecessors: number[]) {
  return { role: 0, realization: 'atomic', predecessors }
}
