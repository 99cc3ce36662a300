import { z } from 'zod'

import type { AgentGraph } from '../../graph/agent-graph.ts'
import type { Random } from '../../numerics/random.ts'
import type { Tensor } from '../../numerics/workspace.ts'
import type { LearnerMeans } from '../organisation.ts'
import { type Agent, agentOf, questionVector, roleVectors } from './agents.ts'
import { candidateGraph } from './candidate-graphs.ts'
import { defineLearner } from './define-learner.ts'
import { type GraphImitator, imitation } from './imitation.ts'
import { gruShapes, type Layers, linearShapes, Network } from './network.ts'
import { drawEntry, type Sequence, sequenceGraph, sequenceOf } from './sequence.ts'
import { forcedChoices, forcedWalks, fused, gruStates, historyInputs, taskRows } from './teacher-forcing.ts'

const options = z.object({
  questions: z.int().min(1).default(40).describe('Training questions.'),
  epochs: z.int().min(1).default(100).describe('Epochs of each of the two stages.'),
  firstRate: z.number().positive().default(8e-5).describe('Learning rate of the first stage.'),
  secondRate: z.number().positive().default(1e-5).describe('Learning rate of the second stage.'),
  batch: z.int().min(1).default(4).describe('Graphs in an optimizer step.'),
  hidden: z.int().min(1).default(256).describe('Width of the node and edge GRUs.'),
  minNodes: z.int().min(1).default(2).describe('Minimum number of nodes.'),
  maxNodes: z
    .int()
    .min(1)
    .max(10)
    .default(5)
    .describe('Maximum number of nodes, also in the training graphs.'),
  solvedAt: z.number().positive().default(1).describe('Minimum score of a solved question.'),
})

type ArgOptions = z.output<typeof options>
const finalizer = 'summarizer-of-all'
/** Weights of the losses of nodes and edges. */
const weights = { node: 0.2, edge: 0.8 } as const
const droppedEdges = 0.25

/** Writes a graph node by node: GRUs choose each role, or END, and then which earlier nodes it hears. */
export async function argImitator(
  { library, encoder, seed }: LearnerMeans,
  { hidden, minNodes, maxNodes, solvedAt, firstRate }: ArgOptions,
): Promise<GraphImitator<Float32Array> & { readonly pool: readonly Agent[] }> {
  const pool = library.roles.map((_, role) => agentOf(library.roles, role))
  const roles = await roleVectors(library, encoder)
  const { dims } = encoder
  const network = new Network(
    {
      ...linearShapes('task.0', dims, dims),
      ...linearShapes('task.1', dims, dims),
      ...gruShapes('history', dims, dims),
      ...gruShapes('node', dims, hidden),
      ...linearShapes('node.out', hidden, dims),
      end: [1, dims],
      ...gruShapes('edge', dims + 1, hidden),
      ...linearShapes('edge.out', hidden, 1),
    },
    { seed, learningRate: firstRate },
  )
  const end = roles.length
  /** Every possible input of the edge GRU: each role with either bit. */
  const edgeRows = roles.flatMap((role) => [0, 1].map((bit) => Float32Array.of(...role, bit)))
  const edgeRow = (role: number, bit: boolean | undefined) => 2 * role + Number(bit ?? false)
  const edgeInputs = (layers: Layers) => layers.gruInput('edge', layers.constant(edgeRows))
  /** Log-probabilities of the roles and END, for each state of the node GRU. */
  const nodeLogs = (layers: Layers, states: Tensor): Tensor => {
    const { tape } = layers
    const out = layers.linear('node.out', states)
    const ofRoles = tape.linear(out, layers.constant(roles))
    return layers.logSoftmax(layers.beside(ofRoles, tape.linear(out, layers.weight('end'))))
  }
  /** Probabilities that a node hears an earlier one, for each state of the edge GRU. */
  const hearing = (layers: Layers, states: Tensor) => layers.sigmoid(layers.linear('edge.out', states))
  return {
    network,
    pool,
    read: (task) => questionVector(task, encoder),
    teaches: ({ score }) => score >= solvedAt,
    loss(layers, batch) {
      const { choices, counts, mixed } = forcedChoices(layers, batch, pool, roles)
      const states = gruStates(layers, 'node', layers.gruInput('node', mixed), counts)
      const chosen = choices.map(({ lesson, step }) => lesson.nodes[step] ?? end)
      const nodeParts = layers.probabilityLogs(
        layers.exp(nodeLogs(layers, states)),
        chosen.flatMap((node) => Array.from({ length: end + 1 }, (_, entry) => entry === node)),
      )
      const nodeWeights = choices.map(
        ({ lesson }) => -weights.node / (end + 1) / (lesson.nodes.length + 1) / batch.length,
      )
      const nodeLoss = layers.mixRows([nodeWeights], nodeParts)
      const walks = forcedWalks(choices)
      if (walks.edges.length === 0) return layers.weightedSum([nodeLoss, 1])
      const read = walks.edges.map(({ lesson, step, earlier }) =>
        edgeRow(lesson.nodes[earlier]!, lesson.heard[step]![earlier - 1]),
      )
      const walked = gruStates(layers, 'edge', layers.rowsAt(edgeInputs(layers), read), walks.counts, {
        first: layers.rowsAt(states, walks.beginnings),
      })
      const bits = walks.edges.map(({ lesson, step, earlier }) => lesson.heard[step]![earlier]!)
      const edgeWeights = walks.edges.map(({ lesson: { nodes } }) => {
        const decided = (nodes.length * (nodes.length - 1)) / 2
        return -weights.edge / decided / batch.length
      })
      const edgeLoss = layers.mixRows([edgeWeights], layers.probabilityLogs(hearing(layers, walked), bits))
      return layers.weightedSum([nodeLoss, 1], [edgeLoss, 1])
    },
    build(question, random) {
      return network.run((layers) => {
        const { tape } = layers
        const task = taskRows(layers, [question])
        const [ofHistory, ofEdges] = [historyInputs(layers, roles), edgeInputs(layers)]
        let history = tape.zeros(1, dims)
        let state: Tensor | undefined
        const nodes: number[] = []
        const heard: boolean[][] = []
        while (nodes.length < maxNodes) {
          if (nodes.length > 0)
            history = layers.gruOn('history', layers.rowsAt(ofHistory, [nodes.at(-1)!]), history)
          state = layers.gru('node', fused(layers, history, task), state)
          const logs = layers.values(nodeLogs(layers, state))
          const node = drawEntry(logs, random, nodes.length < minNodes ? new Set([end]) : undefined)
          if (node === end) break
          const bits: boolean[] = []
          let walk = state
          for (const earlier of nodes) {
            walk = layers.gruOn('edge', layers.rowsAt(ofEdges, [edgeRow(earlier, bits.at(-1))]), walk)
            const fits = library.space.compatible(pool[earlier]!.role, pool[node]!.role)
            bits.push(random.uniform() < layers.values(hearing(layers, walk))[0]! && fits)
          }
          nodes.push(node)
          heard.push(bits)
        }
        return sequenceGraph({ nodes, heard } satisfies Sequence, pool, finalizer)
      })
    },
  }
}

/** Removes a random quarter of a graph's edges. */
function withFewerEdges(graph: AgentGraph, pool: readonly Agent[], random: Random): AgentGraph {
  const { nodes, heard } = sequenceOf(graph, pool)
  const kept = heard.map((bits) => bits.map((is) => is && random.uniform() >= droppedEdges))
  return sequenceGraph({ nodes, heard: kept }, pool, finalizer)
}

export const argDesigner = defineLearner({
  name: 'arg-designer',
  category: 'adaptive',
  description:
    'Writes roles and edges node by node until END, as it has learned from graphs that solved questions.',
  fidelity: 'released code',
  source: 'ARG-Designer (Shiy-Li/ARG-Designer), experiment/model.py, cold_start_* and finetune_*',
  differences: [
    'Roles are the library’s; edges with mismatched types are left out. In Mesh, each hears the two before it.',
    'The edge GRU reads the earlier node’s role and the previous bit. The batch size, and one sample of its own per question, are ours.',
    'Vectors have the width of the run’s encoder (384 with MiniLM).',
  ],
  options,
  async learner(means, given) {
    const { library, seed } = means
    const imitator = await argImitator(means, given)
    const { pool } = imitator
    const random = (topology: Parameters<typeof candidateGraph>[0], sizes: readonly number[], of: Random) =>
      sizes.map((size) => candidateGraph(topology, size, pool, library, finalizer, of))
    const { epochs, firstRate, secondRate, batch, questions } = given
    return imitation(imitator, {
      ...{ seed, questions, batch },
      stages: [
        {
          share: 0.4,
          candidates: (_, of) => [...random('FullConnected', [3, 4, 5], of), ...random('Mesh', [4, 5], of)],
          epochs,
          learningRate: firstRate,
        },
        {
          share: 0.6,
          candidates: (question, of) => [
            withFewerEdges(imitator.build(question, of), pool, of),
            ...(['Chain', 'Star', 'Layered'] as const).flatMap((topology) =>
              random(topology, [2, 3, 4, 5], of),
            ),
          ],
          replay: 0.3,
          epochs,
          learningRate: secondRate,
        },
      ],
    })
  },
})
