import { lexicalEncoder } from '../../src/encoder/lexical-encoder.ts'
import { queryEmbedding } from '../../src/encoder/query-embedding.ts'
import { randomOrganisation } from '../../src/evaluation/baseline-organisations.ts'
import { graphKey } from '../../src/graph/graph-key.ts'
import type { PolicyLearner } from '../../src/learning/policy-learner.ts'
import { halvingRounds, successiveHalving } from '../../src/learning/successive-halving.ts'
import { untrainedLearner } from '../../src/learning/untrained-policy.ts'
import { updatePolicy } from '../../src/learning/update.ts'
import type { Look } from '../../src/learning/values/value-model.ts'
import { withTraits } from '../../src/learning/values/value-questions.ts'
import { updateByValues } from '../../src/learning/values/value-update.ts'
import { deriveRandom } from '../../src/numerics/random.ts'
import type { Organiser } from '../../src/organisations/organisation.ts'
import { constructGraphs } from '../../src/policy/construction.ts'
import {
  type TrainingSettings,
  trainingPresets,
  trainingSettings,
  updatesOf,
} from '../../src/settings/training.ts'
import { type LearningWorld, type Purse, PurseEmpty } from './world.ts'

/** Finds an organisation, given questions with answers and a number of paid graph evaluations. */
export interface LearningMethod {
  readonly name: string
  /** `tokenWorth`: multiple of the default token price; 1 by default. */
  train(world: LearningWorld, purse: Purse, tokenWorth?: number): Promise<Organiser>
}

/** The paper's policy with its initial weights. */
export const untrained: LearningMethod = {
  name: 'untrained',
  async train(world) {
    const settings = trainingSettings.parse({ seed: world.seed })
    return policyOrganisation('untrained', world, settings, await learnerOf(world, settings))
  },
}

/** The paper's training, for as many updates as the purse pays for. */
export const paper: LearningMethod = {
  name: 'paper',
  train: (world, purse) =>
    policyGradient('paper', world, purse, trainingSettings.parse({ seed: world.seed })),
}

/** The best of random fixed graphs, by successive halving. */
export const searched: LearningMethod = {
  name: 'searched',
  async train({ set, questions, seed }, purse) {
    const rounds = halvingRounds(questions.queries.length, purse.limit)
    const limits = trainingSettings.parse({})
    const random = randomOrganisation(set.library, limits, seed)
    const candidates = new Map<string, Awaited<ReturnType<Organiser['graphFor']>>>()
    for (let draw = 0; candidates.size < (rounds[0]?.candidates ?? 1); draw += 1) {
      const graph = await random.graphFor({ id: `searched ${draw}`, question: '', metadata: {} })
      candidates.set(graphKey(graph), graph)
    }
    const { candidate: graph } = await successiveHalving(
      [...candidates.values()],
      questions.queries,
      rounds,
      (pairs) => Promise.all(pairs.map(([candidate, { id }]) => purse.evaluate(candidate, id))),
    )
    return { name: 'searched', description: 'The best fixed graph that was found.', graphFor: () => graph }
  },
}

/** Value learning, the default for users' own questions: what this bench compares with the others. */
export const ours: LearningMethod = {
  name: 'ours',
  async train(world, purse, tokenWorth = 1) {
    const { set, seed } = world
    const { values } = trainingPresets
    const usual = trainingSettings.parse(values)
    const settings = {
      ...usual,
      seed,
      evaluations: purse.limit,
      pointsPer1000Tokens: usual.pointsPer1000Tokens * tokenWorth,
    }
    const learner = await learnerOf(world, settings)
    const questions = withTraits(world.questions, set)
    const rounds: Look[][] = []
    const { evaluate } = purse
    const mayContinue = () => true
    while (rounds.length < updatesOf(settings, questions.queries.length)) {
      const made = await updateByValues(learner, {
        settings,
        questions,
        rounds,
        evaluate,
        width: 64,
        mayContinue,
      })
      rounds.push([...made!.looks])
    }
    return policyOrganisation('ours', world, settings, learner)
  },
}

function learnerOf({ set }: LearningWorld, settings: TrainingSettings): Promise<PolicyLearner> {
  return untrainedLearner(set.library, settings, lexicalEncoder)
}

/** The temperature falls over the paper's number of updates, then stays. */
const coolingUpdates = 100

/** Stops a policy that builds only graphs it has already paid for, which would never end. A learning one pays for more per update. */
const leastPerUpdate = 5

async function policyGradient(
  name: string,
  world: LearningWorld,
  { evaluate, limit }: Purse,
  settings: TrainingSettings,
): Promise<Organiser> {
  const learner = await learnerOf(world, settings)
  const { questions } = world
  try {
    for (let update = 0; update < limit / leastPerUpdate; update += 1)
      await updatePolicy(learner, { settings, questions, update, updates: coolingUpdates, evaluate })
  } catch (error) {
    // An update that could not be fully paid for changes nothing.
    if (!(error instanceof PurseEmpty)) throw error
  }
  return policyOrganisation(name, world, settings, learner)
}

/** How a trained policy is used: sampled by question id as in the paper, or with the most probable choices. */
function policyOrganisation(
  name: string,
  { set, seed }: LearningWorld,
  { restriction, temperatureEnd, useTemperature }: TrainingSettings,
  { policy }: PolicyLearner,
): Organiser {
  return {
    name,
    description: 'The graph that a policy builds for each question.',
    async graphFor(task) {
      const query = await queryEmbedding(task, set, lexicalEncoder)
      const random = useTemperature === 0 ? undefined : deriveRandom(seed, 'inference', task.id)
      const temperature = useTemperature || temperatureEnd
      return constructGraphs(policy, [{ query, random, restriction, temperature, dropout: false }])[0]!.graph
    },
  }
}
