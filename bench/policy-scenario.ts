import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgentGraph } from '../src/graph/agent-graph.ts'
import type { Action } from '../src/graph/legality.ts'
import type { RecordedGroup } from '../src/learning/loss.ts'
import { defineRoleSpace, type Realization } from '../src/library/role-space.ts'
import { deriveRandom } from '../src/numerics/random.ts'
import { ConstructionPolicy } from '../src/policy/policy.ts'
import type { RoleVectors } from '../src/policy/semantics.ts'
import { serializeSafetensors } from '../src/store/safetensors.ts'

/** A policy with random unit embeddings, queries, and a group of two full trajectories. */
export interface PolicyScenario {
  readonly policy: ConstructionPolicy
  readonly queries: readonly Float32Array[]
  readonly group: RecordedGroup
  readonly vectors: readonly RoleVectors[]
}

export interface ScenarioSize {
  readonly roles: number
  readonly units: number
  readonly depth: number
}

export function policyScenario({ roles, units, depth }: ScenarioSize): PolicyScenario {
  const semantic = 384
  const random = deriveRandom(42, 'bench', roles, units)
  const unitVector = () => {
    const vector = Float32Array.from({ length: semantic }, () => random.normal())
    const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0))
    return vector.map((x) => x / length)
  }
  const space = defineRoleSpace(
    Array.from({ length: roles }, (_, role) => ({ id: `role_${role}`, atomic: true, group: true })),
  )
  const vectors = space.roles.map(() => ({ role: unitVector(), atomic: unitVector(), group: unitVector() }))
  const dimensions = { semantic, hidden: 256, maxUnits: units, maxDepth: depth }
  const policy = ConstructionPolicy.initialize({ dimensions, roles: space, vectors }, 7)
  const queries = Array.from({ length: 64 }, unitVector)
  const add = (role: number, realization: Realization, predecessors: number[]): Action => ({
    type: 'add',
    role: `role_${role % roles}`,
    realization,
    predecessors,
  })
  // A chain of single agents that ends in a group, and a group with others beside it.
  const chain = Array.from({ length: units }, (_, unit) =>
    add(unit, unit === 2 ? 'group' : 'atomic', unit === 0 || unit > 2 ? [] : [unit - 1]),
  )
  const fan = Array.from({ length: units }, (_, unit) =>
    add(unit + 5, unit === 0 ? 'group' : 'atomic', unit === 0 ? [] : [0]),
  )
  const trajectories = [chain, fan].map((additions) => {
    let graph = AgentGraph.empty
    return [...additions, { type: 'stop' } as const].map((action) => {
      const before = graph
      if (action.type === 'add') graph = graph.add(action)
      const keep = () =>
        Uint8Array.from({ length: dimensions.hidden }, () => (random.uniform() < 0.1 ? 0 : 1))
      return { graph: before, action, dropoutKeep: before.units.map(keep) }
    })
  })
  const advantages = [trajectories[0]!.map(() => 1), trajectories[1]!.map(() => -1)]
  const group = {
    query: queries[0]!,
    restriction: 'mixed' as const,
    temperature: 1.2,
    trajectories,
    advantages,
  }
  return { policy, queries, group, vectors }
}

/** Writes the scenario for torch/peer.py, and returns the path of its JSON file. */
export function writeScenario({ policy, queries, group, vectors }: PolicyScenario): string {
  const folder = mkdtempSync(join(tmpdir(), 'magic-bench-'))
  const write = (
    file: string,
    tensors: ReadonlyMap<string, { shape: readonly number[]; data: Float32Array }>,
  ) => writeFileSync(join(folder, file), serializeSafetensors(tensors))
  const rows = (list: readonly ArrayLike<number>[]) => ({
    shape: [list.length, list[0]!.length],
    data: Float32Array.from(list.flatMap((row) => Array.from(row))),
  })
  const { semantic, hidden, maxUnits, maxDepth } = policy.options.dimensions
  write('policy.safetensors', policy.parameters.read())
  write('reference.safetensors', policy.parameters.read())
  write(
    'embeddings.safetensors',
    new Map([
      ['role', rows(vectors.map((entry) => entry.role))],
      ['atomic', rows(vectors.map((entry) => entry.atomic!))],
      ['group', rows(vectors.map((entry) => entry.group!))],
      ['query', rows(queries)],
    ]),
  )
  const indexed = (action: Action) =>
    action.type === 'stop' ? action : { ...action, role: policy.options.roles.indexOf(action.role) }
  const scenario = {
    dims: { semantic, hidden, max_units: maxUnits, max_depth: maxDepth },
    dropout_rate: policy.dropoutRate,
    restriction: 'mixed',
    temperature: 1,
    library: {
      roles: policy.options.roles.roles.map(({ id, atomic, group }) => ({ name: id, atomic, group })),
      compatible: vectors.map(() => vectors.map(() => true)),
    },
    files: {
      policy: 'policy.safetensors',
      reference: 'reference.safetensors',
      embeddings: 'embeddings.safetensors',
    },
    queries: queries.length,
    hyper: {
      beta_kl: 0.01,
      beta_h: 0.001,
      lr: 1e-4,
      adam_beta1: 0.9,
      adam_beta2: 0.999,
      adam_eps: 1e-8,
      reward: {
        alpha: 1,
        beta: 0.02,
        gamma_r: 0.05,
        eta: 1,
        kappa: 1,
        w_n: 1,
        w_e: 1,
        b_n: 6,
        b_e: 6,
        epsilon: 1e-8,
      },
    },
    update: {
      query: 0,
      restriction: 'mixed',
      temperature: group.temperature,
      // Equal probe scores leave only the structural terms, so the peer's own advantages are the signs used here.
      trajectories: group.trajectories.map((steps, trajectory) => ({
        steps: steps.map(({ graph, action, dropoutKeep }) => ({
          units: graph.units.map((unit) => ({ ...unit, role: policy.options.roles.indexOf(unit.role) })),
          action: indexed(action),
          dropout_keep: dropoutKeep!.map((keep) => keep.join('')),
          ...(action.type === 'add' && { parent_scores: [0, 0, 0, 0], child_scores: [0, 0, 0, 0] }),
        })),
        terminal_score: trajectory === 0 ? 1 : 0,
      })),
    },
  }
  const path = join(folder, 'scenario.json')
  writeFileSync(path, JSON.stringify(scenario))
  return path
}
