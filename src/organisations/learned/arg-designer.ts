import { z } from 'zod'

import type { AgentGraph } from '../../graph/agent-graph.ts'
import {
  add,
  affine,
  beside,
  dots,
  exp,
  logSoftmax,
  multiply,
  probabilityLogs,
  relu,
  rowProducts,
  sigmoid,
  total,
} from '../../numerics/operations.ts'
import type { Random } from '../../numerics/random.ts'
import type { Tensor } from '../../numerics/workspace.ts'
import type { LearnerMeans } from '../organisation.ts'
import { type Agent, agentOf, questionVector, roleVectors } from './agents.ts'
import { candidateGraph } from './candidate-graphs.ts'
import { defineLearner } from './define-learner.ts'
import { type GraphImitator, imitation } from './imitation.ts'
import { gruShapes, type Layers, linearShapes, Network } from './network.ts'
import { drawEntry, type Sequence, sequenceGraph, sequenceOf } from './sequence.ts'

const options = z.object({
  questions: z.int().min(1).default(40).describe('Training questions.'),
  epochs: z.int().min(1).default(100).describe('Epochs of each of the two stages.'),
  firstRate: z.number().positive().default(8e-5).describe('Learning rate of the first stage.'),
  secondRate: z.number().positive().default(1e-5).describe('Learning rate of the second stage.'),
  batch: z.int().min(1).default(4).describe('Graphs in an optimizer step.'),
  hidden: z.int().min(1).default(256).describe('Width of the node and edge GRUs.'),
  minNodes: z.int().min(1).default(2).describe('Nodes before END may be chosen.'),
  maxNodes: z.int().min(1).max(10).default(5).describe('Nodes at most: the most of any lesson.'),
  solvedAt: z.number().positive().default(1).describe('Score from which a question counts as solved.'),
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
  /** The states of one building of a graph. */
  const begin = (layers: Layers, question: Float32Array) => {
    const { tape } = layers
    const task = layers.linear('task.1', relu(tape, layers.linear('task.0', layers.constant([question]))))
    const roleRows = layers.constant(roles)
    let history: Tensor = tape.zeros(1, dims)
    let node: Tensor | undefined
    return {
      /** Log-probabilities of the roles and END, after these nodes. */
      nodeLogs(previous: number | undefined): Tensor {
        if (previous !== undefined)
          history = layers.gru('history', layers.constant([roles[previous]!]), history)
        // g = σ(h·t/d), x = (1 − g)h + g·t
        const gate = sigmoid(tape, affine(tape, dots(tape, history, [0], task, [0]), 1 / dims))
        const mixed = add(
          tape,
          multiply(tape, affine(tape, gate, -1, 1), history),
          multiply(tape, gate, task),
        )
        node = layers.gru('node', mixed, node)
        const out = layers.linear('node.out', node)
        const scores = beside(
          tape,
          rowProducts(tape, out, roleRows),
          rowProducts(tape, out, layers.weight('end')),
        )
        return logSoftmax(tape, scores)
      },
      /** Probabilities that the newest node hears each earlier one; `bit` is asked for each as it comes. */
      edges(earlier: readonly number[], bit: (place: number, probability: Tensor) => boolean): Tensor[] {
        let state = node
        let last = 0
        return earlier.map((role, place) => {
          state = layers.gru('edge', layers.constant([[...roles[role]!, last]]), state)
          const probability = sigmoid(tape, layers.linear('edge.out', state))
          last = Number(bit(place, probability))
          return probability
        })
      },
    }
  }
  const end = roles.length
  return {
    network,
    pool,
    read: (task) => questionVector(task, encoder),
    teaches: ({ score }) => score >= solvedAt,
    loss(layers, batch) {
      const { tape } = layers
      const terms = batch.flatMap(({ question, graph }) => {
        const { nodes, heard } = sequenceOf(graph, pool)
        const writing = begin(layers, question)
        const nodeTerms: [Tensor, number][] = []
        const edgeTerms: [Tensor, number][] = []
        for (const [place, node] of [...nodes, end].entries()) {
          const logs = writing.nodeLogs(nodes[place - 1])
          const isChosen = Array.from({ length: end + 1 }, (_, entry) => entry === node)
          const each = probabilityLogs(tape, exp(tape, logs), isChosen)
          nodeTerms.push([each, -weights.node / (end + 1) / (nodes.length + 1)])
          if (node === end) continue
          const bits = heard[place]!
          for (const [earlier, probability] of writing
            .edges(nodes.slice(0, place), (before) => bits[before]!)
            .entries())
            edgeTerms.push([probabilityLogs(tape, probability, [bits[earlier]!]), -weights.edge])
        }
        const decided = Math.max(1, edgeTerms.length)
        return [...nodeTerms, ...edgeTerms.map(([x, factor]): [Tensor, number] => [x, factor / decided])]
      })
      return total(tape, ...terms.map(([x, factor]) => [x, factor / batch.length] as const))
    },
    build(question, random) {
      return network.run((layers) => {
        const writing = begin(layers, question)
        const nodes: number[] = []
        const heard: boolean[][] = []
        while (nodes.length < maxNodes) {
          const logs = layers.values(writing.nodeLogs(nodes.at(-1)))
          const node = drawEntry(logs, random, nodes.length < minNodes ? new Set([end]) : undefined)
          if (node === end) break
          const bits: boolean[] = []
          writing.edges(nodes, (earlier, probability) => {
            const fits = library.space.compatible(pool[nodes[earlier]!]!.role, pool[node]!.role)
            bits.push(random.uniform() < layers.values(probability)[0]! && fits)
            return bits.at(-1)!
          })
          nodes.push(node)
          heard.push(bits)
        }
        return sequenceGraph({ nodes, heard } satisfies Sequence, pool, finalizer)
      })
    },
  }
}

/** A quarter of a graph's edges are gone, at random. */
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
    'Roles are the library’s; edges whose types do not fit are left out. In Mesh each hears the two before it.',
    'The edge GRU reads the earlier node’s role and the bit before; batch, and one own sample per question, are ours.',
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
