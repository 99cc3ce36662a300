import { z } from 'zod'
import type { AgentGraph } from '../../graph/agent-graph.ts'
import type { Random } from '../../numerics/random.ts'
import type { Tensor } from '../../numerics/workspace.ts'
import type { LearnerMeans } from '../organisation.ts'
import {
  type Agent,
  agentOf,
  drawEdges,
  type Edge,
  graphOf,
  legalPairs,
  questionVector,
  roleVectors,
} from './agents.ts'
import { defineLearner } from './define-learner.ts'
import { type GraphImitator, imitation } from './imitation.ts'
import { type Layers, linearShapes, Network } from './network.ts'
import { convolutionWeights } from './propagation.ts'

const options = z.object({
  questions: z.int().min(1).default(40).describe('Training questions.'),
  candidates: z.int().min(1).default(8).describe('Subgraphs scored per question.'),
  hops: z.int().min(1).max(3).default(2).describe('Maximum distance from the best-matching role.'),
  maxAgents: z.int().min(1).max(8).default(4).describe('Maximum number of agents.'),
  experts: z.int().min(1).max(8).default(3).describe('Number of encoders, which a gate mixes.'),
  hidden: z.int().min(1).default(64).describe('Width of the encoders.'),
  epochs: z.int().min(1).default(50).describe('Epochs.'),
  batch: z.int().min(1).default(16).describe('Graphs in an optimizer step.'),
  learningRate: z.number().positive().default(1e-3).describe('Learning rate of Adam.'),
})

type RgfmOptions = z.output<typeof options>

/** Scores subgraphs of the library's compatibility graph against a question; the best is run. */
export async function rgfmImitator(
  { library, encoder, seed }: LearnerMeans,
  { hidden, experts, hops, maxAgents, candidates, learningRate }: RgfmOptions,
): Promise<
  GraphImitator<Float32Array> & {
    subgraphs(question: Float32Array, random: Random): AgentGraph[]
    scores(question: Float32Array, graphs: readonly AgentGraph[]): number[]
  }
> {
  const agents = library.roles.map((_, role) => agentOf(library.roles, role))
  const roles = await roleVectors(library, encoder)
  const neighbours = legalPairs(agents, library)
  const network = new Network(
    {
      ...Object.assign(
        {},
        ...Array.from({ length: experts }, (_, expert) => ({
          ...linearShapes(`expert.${expert}.0`, encoder.dims, hidden),
          ...linearShapes(`expert.${expert}.1`, hidden, hidden),
        })),
      ),
      ...linearShapes('gate', encoder.dims, experts),
      ...linearShapes('question', encoder.dims, hidden),
    },
    { seed, learningRate },
  )
  /** A graph's logit: its mixed encoding times the question's. */
  const logit = (layers: Layers, question: Float32Array, graph: AgentGraph): Tensor => {
    const places = graph.units.map(({ role }) => library.space.indexOf(role))
    const edges = graph.units.flatMap(({ predecessors }, to) => predecessors.map((from): Edge => [from, to]))
    const weights = convolutionWeights(graph.size, edges)
    const x = layers.constant(places.map((role) => roles[role]!))
    const query = layers.constant([question])
    const gate = layers.exp(layers.logSoftmax(layers.linear('gate', query)))
    const mean = [new Array<number>(graph.size).fill(1 / graph.size)]
    const encodings = Array.from({ length: experts }, (_, expert) => {
      const first = layers.relu(layers.mixRows(weights, layers.linear(`expert.${expert}.0`, x)))
      const pooled = layers.mixRows(mean, layers.mixRows(weights, layers.linear(`expert.${expert}.1`, first)))
      return layers.multiply(
        layers.rowsAt({ ...gate, rows: experts, columns: 1, stride: 1 }, [expert]),
        pooled,
      )
    })
    const mixed = encodings.reduce((sum, one) => layers.add(sum, one))
    return layers.dots(mixed, [0], layers.linear('question', query), [0])
  }
  const scores = (question: Float32Array, graphs: readonly AgentGraph[]) =>
    graphs.map((graph) => network.run((layers) => layers.values(logit(layers, question, graph))[0]!))
  /** The best-matching role, with some of the roles up to k steps away. */
  const subgraphs = (question: Float32Array, random: Random): AgentGraph[] => {
    const match = roles.map((role) => role.reduce((sum, entry, at) => sum + entry * question[at]!, 0))
    const centre = match.indexOf(Math.max(...match))
    return Array.from({ length: candidates }, (_, number) =>
      subgraphRound(centre, 1 + (number % hops), { agents, neighbours, maxAgents }, random),
    )
  }
  return {
    network,
    subgraphs,
    scores,
    read: (task) => questionVector(task, encoder),
    teaches: () => true,
    loss(layers, batch) {
      return layers.weightedSum(
        // Cross-entropy with the score as a soft label.
        ...batch.flatMap(({ question, graph, score }) => {
          const value = logit(layers, question, graph)
          return [
            [layers.bernoulliLogs(value, [true]), -score / batch.length],
            [layers.bernoulliLogs(value, [false]), (score - 1) / batch.length],
          ] as const
        }),
      )
    },
    build(question, random) {
      const graphs = subgraphs(question, random)
      const values = scores(question, graphs)
      return graphs[values.indexOf(Math.max(...values))]!
    },
  }
}

function subgraphRound(
  centre: number,
  hops: number,
  given: {
    readonly agents: readonly Agent[]
    readonly neighbours: readonly Edge[]
    readonly maxAgents: number
  },
  random: Random,
): AgentGraph {
  const kept = [centre]
  let rim = [centre]
  for (let hop = 0; hop < hops; hop += 1) {
    const next = given.neighbours
      .filter(([from, to]) => rim.includes(from) !== rim.includes(to))
      .map(([from, to]) => (rim.includes(from) ? to : from))
      .filter((place, at, all) => !kept.includes(place) && all.indexOf(place) === at)
    rim = next.filter(() => random.uniform() < 0.5).slice(0, given.maxAgents - kept.length)
    kept.push(...rim)
  }
  const edges = given.neighbours
    .map(([from, to]): Edge => [kept.indexOf(from), kept.indexOf(to)])
    .filter(([from, to]) => from >= 0 && to >= 0)
  // Most pairs fit in both directions, so the direction is drawn.
  const drawn = drawEdges(edges, () => random.uniform() < 0.5)
  return graphOf(
    kept.map((place) => given.agents[place]!),
    drawn.edges,
    'summarizer',
  )
}

export const rGfm = defineLearner({
  name: 'r-gfm',
  category: 'adaptive',
  description:
    'Scores small subgraphs of the library’s compatibility graph for each question, and runs the best.',
  fidelity: 'adaptation',
  source: 'R-GFM (USTC-DataDarknessLab/R-GFM, MIT) is no organizer: this is our own use of its idea',
  differences: [
    'The graph is the library’s: roles, connected if an output fits an input; features are the roles’ vectors.',
    'Experts are plain graph convolutions: the Riemannian part and the contrastive pretraining are left out.',
    'The scorer is trained on executed subgraphs; all sizes are ours.',
  ],
  options,
  async learner(means, given) {
    const imitator = await rgfmImitator(means, given)
    const { questions, batch, epochs, learningRate } = given
    return imitation(imitator, {
      ...{ seed: means.seed, questions, batch },
      stages: [{ share: 1, candidates: imitator.subgraphs, epochs, learningRate }],
    })
  },
})
