import { z } from 'zod'
import type { AgentGraph } from '../../graph/agent-graph.ts'
import type { Task } from '../../library/task.ts'
import { logGamma } from '../../numerics/gamma.ts'
import type { Tensor } from '../../numerics/workspace.ts'
import type { LearnerMeans } from '../organisation.ts'
import { agentOf, questionVector, roleVectors } from './agents.ts'
import { modeGraph, modes } from './collaboration-mode.ts'
import { defineLearner } from './define-learner.ts'
import { type Layers, linearShapes, Network } from './network.ts'
import { type GraphSampler, policyGradient } from './policy-gradient.ts'
import { drawEntry } from './sequence.ts'
import { autoencode, autoencoderShapes, drawNoise } from './variational.ts'

const options = z.object({
  maxAgents: z.int().min(1).max(16).default(6).describe('Maximum number of agents.'),
  costRate: z.number().min(0).default(200).describe('Utility lost per unit of money.'),
  epochs: z.int().min(1).default(10).describe('Passes over the training questions.'),
  batch: z.int().min(1).default(16).describe('Questions per update.'),
  learningRate: z.number().positive().default(0.01).describe('Learning rate of Adam.'),
  hidden: z.int().min(1).default(64).describe('Width of the latents.'),
  models: z
    .array(z.object({ name: z.string(), description: z.string() }))
    .default([])
    .describe('Models to choose from for each agent; default: only the run’s own.'),
})

/** Kinds of questions, each with its test. */
const classes: readonly { readonly text: string; readonly is: (task: Task) => boolean }[] = [
  { text: 'Code: writing a program that passes its tests.', is: ({ program }) => program !== undefined },
  {
    text: 'Table: finding and computing what a table says.',
    is: ({ tables = [] }) => tables.length > 0,
  },
  {
    text: 'Choice: knowledge and reasoning, the answer being one of several options.',
    is: ({ options: given = [] }) => given.length > 0,
  },
  { text: 'Open: a problem to reason about or to compute, with a short answer.', is: () => true },
]

/** Temperatures of the softmaxes over classes, modes, roles and models. */
const temperatures = { task: 0.5, mode: 0.8, role: 0.5, model: 1 } as const
const autoencoderWeight = 0.001

interface RoutedQuestion {
  readonly vector: Float32Array
  /** Index of its class. */
  readonly label: number
}

interface Noise {
  readonly modes: number[][]
  readonly context: number[][]
  readonly count: number[][]
  readonly roles: number[][]
  readonly models: number[][]
}

interface Route {
  readonly graph: AgentGraph
  readonly mode: number
  readonly roles: readonly number[]
  /** One per agent. */
  readonly models: readonly number[]
  readonly noise: Noise
}

/** A choice among rows, by its log-probabilities. */
type Choose = (logs: Float32Array) => number

export async function masRouterSampler(
  { library, encoder, seed }: LearnerMeans,
  { maxAgents, costRate, learningRate, hidden, models }: z.output<typeof options>,
): Promise<GraphSampler<RoutedQuestion, Route>> {
  const texts = {
    classes: await encoder.encode(classes.map(({ text }) => text)),
    modes: await encoder.encode(modes.map(({ name, text }) => `${name} : ${text}`)),
    roles: await roleVectors(library, encoder),
    models: await encoder.encode(
      models.length === 0
        ? ['The only model.']
        : models.map(({ name, description }) => `${name} : ${description}`),
    ),
  }
  const network = new Network(
    {
      ...linearShapes('task.query', encoder.dims, hidden),
      ...linearShapes('task.task', encoder.dims, hidden),
      ...autoencoderShapes('mode.mode', encoder.dims, hidden),
      ...autoencoderShapes('mode.context', encoder.dims, hidden),
      ...autoencoderShapes('count.vae', encoder.dims, hidden),
      ...linearShapes('count.fc', hidden, 1),
      ...autoencoderShapes('role.role', encoder.dims, hidden),
      ...linearShapes('role.context', 3 * hidden, hidden),
      ...autoencoderShapes('model.model', encoder.dims, hidden),
      ...linearShapes('model.context', 3 * hidden, hidden),
    },
    { seed, learningRate },
  )

  /** The cascade: draws a route with `choose` or follows a given one, and returns the parts of the loss. */
  const cascade = (
    layers: Layers,
    question: RoutedQuestion,
    noise: Noise,
    given?: Route,
    choose?: Choose,
  ) => {
    const { tape } = layers
    const query = layers.constant([question.vector])
    const logsOf = (context: Tensor, choices: Tensor, temperature: number) =>
      layers.logSoftmax(layers.affine(layers.rowProducts(context, choices), 1 / temperature))
    const entry = (logs: Tensor, place: number) =>
      layers.rowsAt({ ...logs, rows: logs.columns, columns: 1, stride: 1 }, [place])

    // (1) The class of the question.
    const context = layers.unitRows(layers.linear('task.query', query))
    const classRows = layers.unitRows(layers.linear('task.task', layers.constant(texts.classes)))
    const classLog = entry(logsOf(context, classRows, temperatures.task), question.label)

    // (2) The mode of collaboration.
    const modeCode = autoencode(layers, 'mode.mode', layers.constant(texts.modes), noise.modes)
    const queryCode = autoencode(layers, 'mode.context', query, noise.context)
    const modeRows = layers.unitRows(modeCode.z)
    const modeLogs = logsOf(layers.unitRows(queryCode.z), modeRows, temperatures.mode)
    const mode = given?.mode ?? choose!(layers.values(modeLogs))
    const modeContext = layers.rowsAt(modeRows, [mode])

    // (3) How many agents.
    const countCode = autoencode(layers, 'count.vae', query, noise.count)
    const float = layers.affine(
      layers.sigmoid(layers.linear('count.fc', layers.unitRows(countCode.z))),
      maxAgents,
    )
    const count = Math.min(maxAgents, Math.max(1, Math.round(layers.values(float)[0]!)))

    // (4) Their roles, one by one.
    const roleCode = autoencode(layers, 'role.role', layers.constant(texts.roles), noise.roles)
    const roleRows = layers.unitRows(roleCode.z)
    const roles: number[] = []
    const roleLogs: Tensor[] = []
    let history = tape.zeros(1, hidden)
    for (let agent = 0; agent < (given?.roles.length ?? count); agent += 1) {
      if (agent > 0) history = layers.add(history, layers.rowsAt(roleRows, [roles.at(-1)!]))
      history = layers.norm(history)
      const state = layers.unitRows(
        layers.linear('role.context', layers.beside(context, modeContext, history)),
      )
      const logs = logsOf(state, roleRows, temperatures.role)
      roles.push(given?.roles[agent] ?? choose!(layers.values(logs)))
      roleLogs.push(entry(logs, roles.at(-1)!))
    }

    // (5) Their models: a multinomial whose count is the float of (3).
    const modelCode = autoencode(layers, 'model.model', layers.constant(texts.models), noise.models)
    const modelState = layers.unitRows(
      layers.linear('model.context', layers.beside(context, modeContext, history)),
    )
    const modelLogs = logsOf(modelState, layers.unitRows(modelCode.z), temperatures.model)
    const chosen = given?.models ?? roles.map(() => choose!(layers.values(modelLogs)))
    const counts = texts.models.map((_, model) => chosen.filter((one) => one === model).length)
    const arrangements = -counts.reduce((sum, times) => sum + logGamma(times + 1), 0)
    const modelLog = layers.weightedSum(
      [layers.logGamma(layers.affine(float, 1, 1)), 1],
      [layers.constant([[1]]), arrangements],
      ...chosen.map((model) => [entry(modelLogs, model), 1] as const),
    )
    return {
      ...{ mode, roles, models: chosen },
      classLog,
      logs: [entry(modeLogs, mode), ...roleLogs, modelLog],
      autoencoders: [modeCode, queryCode, countCode, roleCode, modelCode].map(({ loss }) => loss),
    }
  }

  return {
    network,
    async read(task) {
      return { vector: await questionVector(task, encoder), label: classes.findIndex(({ is }) => is(task)) }
    },
    draw(question, random) {
      const draw = (rows: readonly unknown[]) => drawNoise(rows.length, hidden, random)
      const noise = {
        modes: draw(texts.modes),
        context: draw([question]),
        count: draw([question]),
        roles: draw(texts.roles),
        models: draw(texts.models),
      }
      const {
        mode,
        roles,
        models: chosen,
      } = network.run((layers) => {
        const {
          mode: drawn,
          roles: drawnRoles,
          models: drawnModels,
        } = cascade(layers, question, noise, undefined, (logs) => drawEntry(logs, random))
        return { mode: drawn, roles: drawnRoles, models: drawnModels }
      })
      const agents = roles.map((role, place) => ({
        ...agentOf(library.roles, role),
        ...(models.length > 0 && { model: models[chosen[place]!]!.name }),
      }))
      return { graph: modeGraph(modes[mode]!.name, agents, library), mode, roles, models: chosen, noise }
    },
    loss(layers, batch) {
      return layers.weightedSum(
        ...batch.flatMap(({ question, drawn, utility }) => {
          const { classLog, logs, autoencoders } = cascade(layers, question, drawn.noise, drawn)
          return [
            [classLog, -1],
            ...logs.map((log) => [log, -utility] as const),
            ...autoencoders.map((loss) => [loss, autoencoderWeight] as const),
          ].map(([x, factor]) => [x as Tensor, (factor as number) / batch.length] as const)
        }),
      )
    },
    utility({ score, cost }) {
      if (costRate === 0) return score
      if (cost === undefined) throw new Error('The cost of an answer is unknown: a model has no price.')
      return score - costRate * cost
    },
  }
}

export const masRouter = defineLearner({
  name: 'mas-router',
  category: 'adaptive',
  description:
    'Chooses for each question a mode of collaboration, how many agents, their roles and their models.',
  fidelity: 'released code',
  source: 'MasRouter (yanweiyue/masrouter, Apache-2.0), mas_router.py and the training scripts',
  differences: [
    'The four classes of questions are ours, recognised by the form of the task; every class may use all roles of the library.',
    'IO and CoT are the same graph here, because prompts are the library’s; in Reflection, each agent revises its own answer once.',
    'The cross-entropy of the class applies the softmax once, not twice.',
    'Noise of the latents is drawn per question, not per batch; edges with mismatched types are left out.',
    'Cost is in the currency of the models’ prices, and its rate of 200 is ours.',
    'In use, it draws as in training, fixed by seed and question.',
  ],
  options,
  async learner(means, given) {
    return policyGradient(await masRouterSampler(means, given), {
      seed: means.seed,
      batch: given.batch,
      needsPrice: given.costRate > 0 ? 'costRate=0' : undefined,
      updates: (questions) => given.epochs * Math.max(1, Math.floor(questions / given.batch)),
    })
  },
})
