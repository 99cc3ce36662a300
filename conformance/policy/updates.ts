import { z } from 'zod'
import { AgentGraph } from '../../src/graph/agent-graph.ts'
import { positionAligned } from '../../src/learning/advantages.ts'
import type { RecordedGroup } from '../../src/learning/loss.ts'
import { returnsToGo } from '../../src/learning/returns.ts'
import { creditTrajectory } from '../../src/learning/trajectory.ts'
import type { RewardSettings } from '../../src/settings/rewards.ts'
import type { CaseResult } from '../case.ts'
import { count, goldenAction, goldenDropout, goldenRestriction, goldenUnits, numbers } from './golden.ts'
import { goldenReward } from './golden-reward.ts'
import type { PolicyImplementation, Updated, UpdateSettings } from './implementation.ts'
import { askEach, openAll } from './opened.ts'
import { outcome } from './outcome.ts'
import { type GoldenSetup, readSetup } from './setup.ts'
import {
  advantagesTolerance,
  Comparison,
  norm,
  returnsTolerance,
  type Tolerance,
  type Tolerances,
} from './tolerance.ts'

const adamFields = {
  lr: z.number(),
  adam_beta1: z.number(),
  adam_beta2: z.number(),
  adam_eps: z.number(),
}

export const goldenAdam = z.object(adamFields).transform(adamOf)

function adamOf(hyper: { lr: number; adam_beta1: number; adam_beta2: number; adam_eps: number }) {
  return {
    learningRate: hyper.lr,
    beta1: hyper.adam_beta1,
    beta2: hyper.adam_beta2,
    epsilon: hyper.adam_eps,
  }
}

const goldenHyper = z
  .object({ ...adamFields, beta_kl: z.number(), beta_h: z.number(), reward: goldenReward })
  .transform(({ beta_kl, beta_h, reward, ...hyper }) => ({
    reward,
    settings: {
      loss: { divergence: beta_kl, entropy: beta_h },
      adam: adamOf(hyper),
    } satisfies UpdateSettings,
  }))

const goldenStep = z.object({
  units: goldenUnits,
  action: goldenAction,
  dropout_keep: goldenDropout,
  // STOP has no scores.
  parent_scores: numbers.optional(),
  child_scores: numbers.optional(),
})

// Strict, so that no value goes uncompared.
const tensorData = z.record(z.string(), numbers)
/** Whole weights and gradients, or samples of large tensors. */
export const expectedWeights = {
  gradients: tensorData.optional(),
  weights_after: tensorData.optional(),
  tensors: z
    .record(
      z.string(),
      z.strictObject({ norm: z.number(), index: z.array(count), gradient: numbers, after: numbers }),
    )
    .optional(),
}
const expectedUpdate = z
  .strictObject({
    ...expectedWeights,
    returns: z.array(numbers),
    advantages: z.array(numbers),
    logprobs: z.array(numbers),
    kls: z.array(numbers),
    entropies: z.array(numbers),
    loss: z.number(),
    policy_loss: z.number(),
    mean_kl: z.number(),
    mean_entropy: z.number(),
  })
  .refine(hasWeights, 'has neither gradients and weights_after nor tensors')

type ExpectedWeights = z.output<z.ZodObject<typeof expectedWeights>>

export function hasWeights({ gradients, weights_after, tensors }: ExpectedWeights): unknown {
  return tensors ?? (gradients && weights_after)
}

const goldenUpdate = z.object({
  query: count,
  restriction: goldenRestriction,
  temperature: z.number(),
  trajectories: z.array(z.object({ steps: z.array(goldenStep), terminal_score: z.number() })),
  expected: expectedUpdate,
})

const updateFile = z.object({
  hyper: goldenHyper,
  sequences: z.array(z.object({ name: z.string(), updates: z.array(z.unknown()) })).default([]),
  update: z.unknown().optional(),
})

/** Checks every update of a file like `update.json` or `update_full.json` with each implementation. */
export async function* updateCases(
  content: object,
  file: string,
  folder: string,
  implementations: readonly PolicyImplementation[],
): AsyncGenerator<CaseResult> {
  const { hyper, sequences, update } = updateFile.parse(content)
  const setup = readSetup(content, folder)
  if (update !== undefined) sequences.push({ name: '', updates: [update] })
  for (const { name, updates } of sequences) {
    const opened = await openAll(implementations, setup)
    for (const [index, golden] of updates.entries()) {
      yield outcome(`${file} ${name === '' ? 'update' : `${name} update ${index}`}`, () => {
        const { expected, ...given } = goldenUpdate.parse(golden)
        const { group, differences } = credit(given, expected, setup, hyper.reward)
        const wrong = askEach(opened, (policy, allowed) =>
          compareUpdate(policy.update(group, hyper.settings), expected, allowed),
        )
        return [...differences, ...wrong]
      })
    }
  }
}

type GoldenUpdate = z.output<typeof goldenUpdate>

/** Checks returns and advantages, and returns what an update learns from. */
function credit(
  { query: queryIndex, restriction, temperature, trajectories }: Omit<GoldenUpdate, 'expected'>,
  expected: GoldenUpdate['expected'],
  setup: GoldenSetup,
  reward: RewardSettings,
): { group: RecordedGroup; differences: string[] } {
  const query = setup.queries[queryIndex]
  if (query === undefined) throw new RangeError(`there is no query ${queryIndex}`)
  const returns = trajectories.map(({ steps, terminal_score }) => {
    const additions = steps.filter(({ action }) => action.type === 'add')
    const transitions = additions.map(({ parent_scores = [], child_scores = [] }) => ({
      parentScores: parent_scores,
      childScores: child_scores,
    }))
    return returnsToGo(
      creditTrajectory(
        {
          query: String(queryIndex),
          probes: (transitions[0]?.parentScores ?? []).map((_, probe) => `probe ${probe}`),
          actions: steps.map(({ action }) => action),
          forcedStop: additions.length === setup.dimensions.maxUnits,
          transitions,
          terminalScore: terminal_score,
        },
        reward,
      ),
    )
  })
  const advantages = positionAligned(returns, reward.epsilon)
  const comparison = new Comparison()
  comparison.lists('returns', returns, expected.returns, returnsTolerance)
  comparison.lists('advantages', advantages, expected.advantages, advantagesTolerance)
  const positions = trajectories.map(({ steps }) =>
    steps.map(({ units, action, dropout_keep }) => ({
      graph: AgentGraph.of(units),
      action,
      dropoutKeep: dropout_keep,
    })),
  )
  const group = { query, restriction, temperature, trajectories: positions, advantages }
  return { group, differences: comparison.differences }
}

function compareUpdate(got: Updated, expected: GoldenUpdate['expected'], tolerance: Tolerances): string[] {
  const comparison = new Comparison()
  comparison.lists('logprobs', got.logProbabilities, expected.logprobs, tolerance.values)
  comparison.lists('kls', got.divergences, expected.kls, tolerance.values)
  comparison.lists('entropies', got.entropies, expected.entropies, tolerance.values)
  comparison.number('loss', got.loss, expected.loss, tolerance.values)
  comparison.number('policy_loss', got.policyLoss, expected.policy_loss, tolerance.values)
  comparison.number('mean_kl', got.meanDivergence, expected.mean_kl, tolerance.values)
  comparison.number('mean_entropy', got.meanEntropy, expected.mean_entropy, tolerance.values)
  compareWeights(comparison, got, expected, tolerance)
  return comparison.differences
}

export function compareWeights(
  comparison: Comparison,
  got: Updated,
  { gradients, weights_after: weightsAfter, tensors }: ExpectedWeights,
  tolerance: Tolerances,
): void {
  if (gradients) compareTensors(comparison, 'gradient', got.gradients, gradients, tolerance.gradients)
  if (weightsAfter) {
    compareTensors(comparison, 'weights_after', got.weightsAfter, weightsAfter, tolerance.weights)
  }
  for (const [name, sample] of Object.entries(tensors ?? {})) {
    const gradient = got.gradients.get(name) ?? []
    const after = got.weightsAfter.get(name) ?? []
    const sampled = (all: ArrayLike<number>) => sample.index.map((index) => all[index] ?? Number.NaN)
    comparison.number(`norm of gradient ${name}`, norm(gradient), sample.norm, tolerance.gradients)
    comparison.list(`sampled gradient ${name}`, sampled(gradient), sample.gradient, tolerance.gradients)
    comparison.list(`sampled weights_after ${name}`, sampled(after), sample.after, tolerance.weights)
  }
}

/** Compares every tensor of both sides, so that none goes unnoticed. */
function compareTensors(
  comparison: Comparison,
  what: string,
  got: ReadonlyMap<string, ArrayLike<number>>,
  expected: Readonly<Record<string, readonly number[]>>,
  tolerance: Tolerance,
): void {
  for (const name of got.keys()) {
    if (!Object.hasOwn(expected, name)) comparison.differences.push(`${what} ${name} is not expected`)
  }
  for (const [name, data] of Object.entries(expected)) {
    comparison.list(`${what} ${name}`, got.get(name), data, tolerance)
  }
}
