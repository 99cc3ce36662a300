import { z } from 'zod'
import {
  add,
  affine,
  bernoulliLogs,
  beside,
  dots,
  exp,
  logSoftmax,
  multiply,
  relu,
  rowProducts,
  rowsAt,
  sigmoid,
  square,
  total,
} from '../../numerics/operations.ts'
import type { Random } from '../../numerics/random.ts'
import type { Tensor } from '../../numerics/workspace.ts'
import { Problem } from '../../problem.ts'
import type { LearnerMeans } from '../organisation.ts'
import { type Agent, questionVector } from './agents.ts'
import { candidateGraph, type Topology } from './candidate-graphs.ts'
import { defineLearner } from './define-learner.ts'
import { type GraphImitator, imitation } from './imitation.ts'
import { gruShapes, type Layers, linearShapes, Network } from './network.ts'
import { sequenceGraph, sequenceOf } from './sequence.ts'
import { drawNoise } from './variational.ts'

const options = z.object({
  questions: z.int().min(1).default(40).describe('Training questions.'),
  epochs: z.int().min(1).default(100).describe('Epochs.'),
  batch: z.int().min(1).default(40).describe('Graphs in an optimizer step.'),
  learningRate: z.number().positive().default(1e-4).describe('Learning rate of AdamW.'),
  groupWeight: z.number().min(0).default(0.1).describe('β_g: weight of the groups’ divergence.'),
  edgeWeight: z.number().min(0).default(0.1).describe('β_e: weight of the edges’ divergence.'),
  warmUp: z.int().min(1).default(10).describe('Epochs over which both weights rise from 0.'),
  maxGroups: z.int().min(1).max(8).default(3).describe('Groups at most.'),
  solvedAt: z.number().positive().default(1).describe('Score from which a question counts as solved.'),
})

const mlpWidth = 256

/** A Gaussian bottleneck c ~ q(c | state), and how far it is from the prior p(c | question). */
interface Bottleneck {
  readonly c: Tensor
  readonly divergence: Tensor
}

/** All-group ARG-Designer whose states pass a conditional information bottleneck. Its pool is the library's groups. */
export async function goAgentImitator(
  { library, encoder, seed }: LearnerMeans,
  { learningRate, maxGroups, solvedAt, groupWeight, edgeWeight, warmUp }: z.output<typeof options>,
): Promise<GraphImitator<Float32Array> & { readonly pool: readonly Agent[] }> {
  const pool = library.roles.flatMap(({ id, group }, role): Agent[] =>
    group === undefined ? [] : [{ role, id, realization: 'group' }],
  )
  if (pool.length === 0)
    throw new Problem('GoAgent chooses among groups, and no role of the library has one.')
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
  /** The mean alone where nothing is drawn. */
  const bottleneck = (layers: Layers, name: string, x: Tensor, task: Tensor, random?: Random): Bottleneck => {
    const { tape } = layers
    const mean = layers.linear(`${name}.mean`, x)
    if (random === undefined) return { c: mean, divergence: mean }
    const logVariance = layers.linear(`${name}.log_variance`, x)
    const priorMean = layers.linear(`${name}.prior_mean`, task)
    const priorLogVariance = layers.linear(`${name}.prior_log_variance`, task)
    const noise = layers.constant(drawNoise(1, dims, random))
    const c = add(tape, mean, multiply(tape, exp(tape, affine(tape, logVariance, 0.5)), noise))
    // KL(q ‖ p) = ½ Σ (ln v_p − ln v_q + (v_q + (μ_q − μ_p)²)/v_p − 1)
    const precision = exp(tape, affine(tape, priorLogVariance, -1))
    const off = square(tape, add(tape, mean, affine(tape, priorMean, -1)))
    const divergence = total(
      tape,
      [priorLogVariance, 0.5],
      [logVariance, -0.5],
      [multiply(tape, add(tape, exp(tape, logVariance), off), precision), 0.5],
      [layers.constant([[1]]), -0.5 * dims],
    )
    return { c, divergence }
  }
  const begin = (layers: Layers, question: Float32Array, random?: Random) => {
    const { tape } = layers
    const task = layers.linear('task.1', relu(tape, layers.linear('task.0', layers.constant([question]))))
    const groupRows = layers.constant(groups)
    const states: Tensor[] = []
    let history: Tensor = tape.zeros(1, dims)
    let state: Tensor | undefined
    return {
      /** Log-probabilities of the groups and END, after these. */
      groupLogs(previous: number | undefined): { logs: Tensor; divergence: Tensor } {
        if (previous !== undefined)
          history = layers.gru('history', layers.constant([groups[previous]!]), history)
        const gate = sigmoid(tape, affine(tape, dots(tape, history, [0], task, [0]), 1 / dims))
        const mixed = add(
          tape,
          multiply(tape, affine(tape, gate, -1, 1), history),
          multiply(tape, gate, task),
        )
        state = layers.gru('group', mixed, state)
        states.push(state)
        const { c, divergence } = bottleneck(layers, 'group.bottleneck', state, task, random)
        const scores = beside(
          tape,
          rowProducts(tape, c, groupRows),
          rowProducts(tape, c, layers.weight('end')),
        )
        return { logs: logSoftmax(tape, scores), divergence }
      },
      /** Logits that the newest group hears each earlier one. */
      edges(): { logit: Tensor; divergence: Tensor }[] {
        const newest = states.at(-1)!
        let walk: Tensor | undefined
        return states.slice(0, -1).map((earlier) => {
          const joined = layers.linear('edge.0', beside(tape, earlier, newest, task))
          walk = layers.gru('edge.gru', layers.linear('edge.1', relu(tape, joined)), walk)
          const { c, divergence } = bottleneck(layers, 'edge.bottleneck', walk, task, random)
          return { logit: layers.linear('edge.out', c), divergence }
        })
      },
    }
  }
  const end = pool.length
  return {
    network,
    pool,
    read: (task) => questionVector(task, encoder),
    teaches: ({ score }) => score >= solvedAt,
    loss(layers, batch, random, epoch) {
      const { tape } = layers
      const warmth = Math.min(1, epoch / warmUp)
      const terms = batch.flatMap(({ question, graph }) => {
        const { nodes, heard } = sequenceOf(graph, pool)
        const writing = begin(layers, question, random)
        return [...nodes, end].flatMap((node, place): [Tensor, number][] => {
          const { logs, divergence } = writing.groupLogs(nodes[place - 1])
          const chosen = rowsAt(tape, { ...logs, rows: end + 1, columns: 1, stride: 1 }, [node])
          const own: [Tensor, number][] = [
            [chosen, -1],
            [divergence, warmth * groupWeight],
          ]
          if (node === end) return own
          const edges = writing.edges().flatMap((edge, earlier): [Tensor, number][] => [
            [bernoulliLogs(tape, edge.logit, [heard[place]![earlier]!]), -1],
            [edge.divergence, warmth * edgeWeight],
          ])
          return [...own, ...edges]
        })
      })
      return total(tape, ...terms.map(([x, factor]) => [x, factor / batch.length] as const))
    },
    build(question, random) {
      return network.run((layers) => {
        const writing = begin(layers, question)
        const nodes: number[] = []
        const heard: boolean[][] = []
        while (nodes.length < maxGroups) {
          const logs = layers.values(writing.groupLogs(nodes.at(-1)).logs)
          // There is one group at least.
          const open = nodes.length === 0 ? logs.slice(0, end) : logs
          const node = open.indexOf(open.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY))
          if (node === end) break
          const logits = writing.edges().map(({ logit }) => layers.values(logit)[0]!)
          const fits = (earlier: number) =>
            library.space.compatible(pool[nodes[earlier]!]!.role, pool[node]!.role)
          const bits = logits.map(
            (logit, earlier) => random.uniform() < 1 / (1 + Math.exp(-logit)) && fits(earlier),
          )
          // Connected: where none is drawn, the likeliest is heard.
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
    'The pool is the library’s groups; none is enumerated by a model.',
    'Widths of the bottlenecks, β = 0.1 each, and candidates of 1 to 3 groups are ours; the summarizer hears the sinks.',
    'Edges whose types do not fit are left out; in use they are drawn, fixed by seed and question.',
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
