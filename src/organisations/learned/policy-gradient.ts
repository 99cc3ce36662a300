import type { AgentGraph } from '../../graph/agent-graph.ts'
import { type GraphLearner, lookAt } from '../../learning/graph-learner.ts'
import type { GraphScore } from '../../learning/update.ts'
import type { Task } from '../../library/task.ts'
import { deriveRandom, type Random } from '../../numerics/random.ts'
import { shuffled } from '../../numerics/shuffled.ts'
import type { Tensor } from '../../numerics/workspace.ts'
import type { Layers, Network } from './network.ts'

/** A sampled graph with its utility. */
export interface Rollout<Question, Drawn> {
  readonly question: Question
  readonly drawn: Drawn
  readonly utility: number
}

/** A system's distribution over graphs. */
export interface GraphSampler<Question, Drawn extends { readonly graph: AgentGraph }> {
  readonly network: Network
  /** Prepares its input for a task. */
  read(task: Task): Promise<Question>
  draw(question: Question, random: Random): Drawn
  /** The loss of a batch, whose gradient an update follows. */
  loss(layers: Layers, batch: readonly Rollout<Question, Drawn>[]): Tensor
  /** The utility of an executed graph. Default: its score. */
  utility?(look: GraphScore): number
  /** The graph in use. Default: a drawn one. */
  use?(question: Question): AgentGraph
}

export interface PolicyGradientOptions {
  readonly seed: number
  /** Questions per update, each with one graph. */
  readonly batch: number
  /** Number of updates for this many training questions. */
  readonly updates: (questions: number) => number
  readonly needsPrice?: GraphLearner['needsPrice']
}

/**
 * Policy gradient over executed graphs, as in GPTSwarm, G-Designer, MasRouter and EIB-Learner: an update samples one graph for
 * each of a few questions, runs them, and takes one step on the loss. There is only a final reward.
 */
export function policyGradient<Question, Drawn extends { readonly graph: AgentGraph }>(
  sampler: GraphSampler<Question, Drawn>,
  { seed, batch, updates, needsPrice }: PolicyGradientOptions,
): GraphLearner {
  const { network, utility = ({ score }) => score } = sampler
  return {
    parameters: network.parameters,
    adam: network.adam,
    needsPrice,
    updatesFor: updates,
    async update({ update, tasks, evaluate }) {
      // One order for the whole training, repeated as often as needed.
      const order = shuffled(tasks, deriveRandom(seed, 'order'))
      const chosen = Array.from(
        { length: batch },
        (_, place) => order[(update * batch + place) % order.length]!,
      )
      const drawn = await Promise.all(
        chosen.map(async (task, place) => {
          const question = await sampler.read(task)
          return { question, drawn: sampler.draw(question, deriveRandom(seed, 'draw', update, place)) }
        }),
      )
      const looks = await lookAt(
        drawn.map(({ drawn: { graph } }, place) => ({ graph, task: chosen[place]!.id })),
        evaluate,
      )
      const rollouts = drawn.map((one, place) => ({ ...one, utility: utility(looks[place]!) }))
      return { looks, loss: network.learn((layers) => sampler.loss(layers, rollouts)) }
    },
    async graphFor(task, by = seed) {
      const question = await sampler.read(task)
      return sampler.use?.(question) ?? sampler.draw(question, deriveRandom(by, 'use', task.id)).graph
    },
  }
}
