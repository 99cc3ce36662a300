import { z } from 'zod'
import type { Tensor } from '../../numerics/workspace.ts'
import { Problem } from '../../problem.ts'
import type { LearnerMeans } from '../organisation.ts'
import { type Agent, questionVector } from './agents.ts'
import { candidateGraph, type Topology } from './candidate-graphs.ts'
import { defineLearner } from './define-learner.ts'
import { type GraphImitator, imitation } from './imitation.ts'
import { gruShapes, type Layers, linearShapes, Network } from './network.ts'
import { sequenceGraph } from './sequence.ts'
import { forcedChoices, forcedWalks, fused, gruStates, historyInputs, taskRows } from './teacher-forcing.ts'
import { drawNoise } from './variational.ts'

const options = z.object({
  questions: z.int().min(1).default(40).describe('Training questions.'),
  epochs: z.int().min(1).default(100).describe('Epochs.'),
  batch: z.int().min(1).default(40).describe('Graphs in an optimizer step.'),
  learningRate: z.number().positive().default(1e-4).describe('Learning rate of AdamW.'),
  groupWeight: z.number().min(0).default(0.1).describe('β_g: weight of the groups’ divergence.'),
  edgeWeight: z.number().min(0).default(0.1).describe('β_e: weight of the edges’ divergence.'),
  warmUp: z.int().min(1).default(10).describe('Epochs over which both weights rise from 0.'),
  maxGroups: z.int().min(1).max(8).default(3).describe('Maximum number of groups.'),
  solvedAt: z.number().positive().default(1).describe('Minimum score of a solved question.'),
})

const mlpWidth = 256

/** ARG-Designer on the library's groups, with states that pass a conditional information bottleneck. */
export async function goAgentImitator(
  { library, encoder, seed }: LearnerMeans,
  { learningRate, maxGroups, solvedAt, groupWeight, edgeWeight, warmUp }: z.output<typeof options>,
): Promise<GraphImitator<Float32Array> & { readonly pool: readonly Agent[] }> {
  const pool = library.roles.flatMap(({ id, group }, role): Agent[] =>
    group === undefined ? [] : [{ role, id, realization: 'group' }],
  )
  if (pool.length === 0)
    throw new Problem('GoAgent chooses among groups, but no role of the library has one.')
  const groups = await encoder.encode(pool.map(({ role }) => library.texts[role]!.group!))
  const { dims } = encoder
  const bottleneckShapes = (name: string) => ({
    ...linearShapes(`${name}.mean`, dims, dims),
    ...linearShapes(`${name}.log_variance`, dims, dims),
    ...linearShapes(`${name}.prior_mean`, dims, dims),
    ...linearShapes(`${name}.prior_log_variance`, dims, dims),
  })
  const network = new Network(
    {
      ...linearShapes('task.0', dims, dims),
      ...linearShapes('task.1', dims, dims),
      ...gruShapes('history', dims, dims),
      ...gruShapes('group', dims, dims),
      ...bottleneckShapes('group.bottleneck'),
      end: [1, dims],
      ...linearShapes('edge.0', 3 * dims, mlpWidth),
      ...linearShapes('edge.1', mlpWidth, dims),
      ...gruShapes('edge.gru', dims, dims),
      ...bottleneckShapes('edge.bottleneck'),
      ...linearShapes('edge.out', dims, 1),
    },
    { seed, learningRate, weightDecay: 1e-3, clip: 1 },
  )
  const end = pool.length
  /** Log-probabilities of the groups and END, for each state after its bottleneck. */
  const groupLogs = (layers: Layers, states: Tensor): Tensor => {
    const { tape } = layers
    const ofGroups = tape.linear(states, layers.constant(groups))
    return layers.logSoftmax(layers.beside(ofGroups, tape.linear(states, layers.weight('end'))))
  }
  const edgeInputs = (layers: Layers, earlier: Tensor, newest: Tensor, tasks: Tensor) => {
    const joined = layers.linear('edge.0', layers.beside(earlier, newest, tasks))
    return layers.gruInput('edge.gru', layers.linear('edge.1', layers.relu(joined)))
  }
  /** Rows c drawn from q(c | state), and their total divergence from p(c | question). `owners` are the rows' questions. */
  const bottleneck = (
    layers: Layers,
    name: string,
    x: Tensor,
    tasks: Tensor,
    owners: readonly number[],
    noise: readonly ArrayLike<number>[],
  ) => {
    const mean = layers.linear(`${name}.mean`, x)
    const logVariance = layers.linear(`${name}.log_variance`, x)
    const priorMean = layers.rowsAt(layers.linear(`${name}.prior_mean`, tasks), owners)
    const priorLogVariance = layers.rowsAt(layers.linear(`${name}.prior_log_variance`, tasks), owners)
    const spread = layers.exp(layers.affine(logVariance, 0.5))
    const c = layers.add(mean, layers.multiply(spread, layers.constant(noise)))
    // KL(q ‖ p) = ½ Σ (ln v_p − ln v_q + (v_q + (μ_q − μ_p)²)/v_p − 1)
    const precision = layers.exp(layers.affine(priorLogVariance, -1))
    const off = layers.square(layers.add(mean, layers.affine(priorMean, -1)))
    const divergence = layers.weightedSum(
      [priorLogVariance, 0.5],
      [logVariance, -0.5],
      [layers.multiply(layers.add(layers.exp(logVariance), off), precision), 0.5],
      [layers.constant([[1]]), -0.5 * dims * x.rows],
    )
    return { c, divergence }
  }
  return {
    network,
    pool,
    read: (task) => questionVector(task, encoder),
    teaches: ({ score }) => score >= solvedAt,
    loss(layers, batch, random, epoch) {
      const warmth = Math.min(1, epoch / warmUp)
      // Noise is drawn lesson by lesson and state by state: first the group's, then its edges'.
      const withNoise = batch.map((lesson) => ({
        ...lesson,
        noise: Array.from({ length: lesson.graph.size + 1 }, (_, place) => ({
          group: drawNoise(1, dims, random)[0]!,
          edges: drawNoise(place < lesson.graph.size ? place : 0, dims, random),
        })),
      }))
      const { choices, counts, tasks, owners, mixed } = forcedChoices(layers, withNoise, pool, groups)
      const states = gruStates(layers, 'group', layers.gruInput('group', mixed), counts)
      const groupNoise = choices.map(({ lesson, step }) => lesson.noise[step]!.group)
      const group = bottleneck(layers, 'group.bottleneck', states, tasks, owners, groupNoise)
      const logs = groupLogs(layers, group.c)
      const chosen = layers.rowsAt(
        { ...logs, rows: logs.rows * (end + 1), columns: 1, stride: 1 },
        choices.map(({ lesson, step }, row) => row * (end + 1) + (lesson.nodes[step] ?? end)),
      )
      const groupTerms = [
        [chosen, -1 / batch.length],
        [group.divergence, (warmth * groupWeight) / batch.length],
      ] as const
      const walks = forcedWalks(choices)
      if (walks.edges.length === 0) return layers.weightedSum(...groupTerms)
      const edgeOwners = walks.edges.map(({ sequence }) => sequence)
      const inputs = edgeInputs(
        layers,
        layers.rowsAt(
          states,
          walks.edges.map(({ earlierRow }) => earlierRow),
        ),
        layers.rowsAt(
          states,
          walks.edges.map(({ row }) => row),
        ),
        layers.rowsAt(tasks, edgeOwners),
      )
      const walked = gruStates(layers, 'edge.gru', inputs, walks.counts)
      const edgeNoise = walks.edges.map(({ lesson, step, earlier }) => lesson.noise[step]!.edges[earlier]!)
      const edge = bottleneck(layers, 'edge.bottleneck', walked, tasks, edgeOwners, edgeNoise)
      const bits = walks.edges.map(({ lesson, step, earlier }) => lesson.heard[step]![earlier]!)
      return layers.weightedSum(
        ...groupTerms,
        [layers.bernoulliLogs(layers.linear('edge.out', edge.c), bits), -1 / batch.length],
        [edge.divergence, (warmth * edgeWeight) / batch.length],
      )
    },
    build(question, random) {
      return network.run((layers) => {
        const { tape } = layers
        const task = taskRows(layers, [question])
        const ofHistory = historyInputs(layers, groups)
        let history = tape.zeros(1, dims)
        const states: Tensor[] = []
        const nodes: number[] = []
        const heard: boolean[][] = []
        while (nodes.length < maxGroups) {
          if (nodes.length > 0)
            history = layers.gruOn('history', layers.rowsAt(ofHistory, [nodes.at(-1)!]), history)
          const state = layers.gru('group', fused(layers, history, task), states.at(-1))
          // In use, a bottleneck returns its mean.
          const logs = layers.values(groupLogs(layers, layers.linear('group.bottleneck.mean', state)))
          // There must be at least one group.
          const open = nodes.length === 0 ? logs.slice(0, end) : logs
          const node = open.indexOf(open.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY))
          if (node === end) break
          let walk: Tensor | undefined
          const logits = states.map((earlier) => {
            walk = layers.gruOn('edge.gru', edgeInputs(layers, earlier, state, task), walk)
            return layers.values(layers.linear('edge.out', layers.linear('edge.bottleneck.mean', walk)))[0]!
          })
          states.push(state)
          const fits = (earlier: number) =>
            library.space.compatible(pool[nodes[earlier]!]!.role, pool[node]!.role)
          const bits = logits.map(
            (logit, earlier) => random.uniform() < 1 / (1 + Math.exp(-logit)) && fits(earlier),
          )
          // Keeps the graph connected: if no edge is drawn, takes the likeliest.
          const likely = [...logits.keys()].filter(fits).sort((a, b) => logits[b]! - logits[a]!)[0]
          if (!bits.includes(true) && likely !== undefined) bits[likely] = true
          nodes.push(node)
          heard.push(bits)
        }
        return sequenceGraph({ nodes, heard }, pool, 'summarizer')
      })
    },
  }
}

export const goAgent = defineLearner({
  name: 'go-agent',
  category: 'adaptive',
  description: 'Writes a graph of ready-made groups, group by group, through an information bottleneck.',
  fidelity: 'paper',
  source: 'GoAgent, method section and appendices A to F',
  differences: [
    'The pool is the library’s groups; no model enumerates them.',
    'Widths of the bottlenecks, β = 0.1 each, and candidates of 1 to 3 groups are ours; the summarizer hears the sinks.',
    'Edges with mismatched types are left out. In use, edges are drawn, fixed by seed and question.',
    'Vectors have the width of the run’s encoder (384 with MiniLM).',
  ],
  options,
  async learner(means, given) {
    const imitator = await goAgentImitator(means, given)
    const { epochs, learningRate, questions, batch, maxGroups } = given
    const sizes = Array.from({ length: maxGroups }, (_, size) => size + 1)
    const shapes: readonly Topology[] = ['Chain', 'Star', 'FullConnected']
    return imitation(imitator, {
      ...{ seed: means.seed, questions, batch },
      stages: [
        {
          share: 1,
          candidates: (_, random) =>
            shapes.flatMap((topology) =>
              sizes.map((size) =>
                candidateGraph(topology, size, imitator.pool, means.library, 'summarizer', random),
              ),
            ),
          epochs,
          learningRate,
        },
      ],
    })
  },
})
