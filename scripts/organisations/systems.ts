import { lexicalEncoder } from '../../src/encoder/lexical-encoder.ts'
import type { OrganisationReport } from '../../src/evaluation/organisation-report.ts'
import { searchedOrganisation, searchGraph } from '../../src/evaluation/search-graph.ts'
import { loadPolicy } from '../../src/evaluation/trained-policy.ts'
import type { Laboratory, OpenedSet } from '../../src/experiments/laboratory.ts'
import { learnerSource } from '../../src/organisations/learned/learner-source.ts'
import { organisations } from '../../src/organisations/list.ts'
import { openOrganisation } from '../../src/organisations/open-organisation.ts'
import type { OrganisationDefinition } from '../../src/organisations/organisation.ts'
import { trainingPresets } from '../../src/settings/training.ts'
import { machineSandbox } from '../../src/store/run-tools.ts'

export const taskSets = ['mmlu_pro', 'gsm8k'] as const
export type TaskSetName = (typeof taskSets)[number]

/** The price of a small model, for systems that learn from the cost of answers. */
const price = { currency: 'CNY', input: 1, cachedInput: 0.02, output: 2, asOf: '2026-04-24' }
const sandbox = await machineSandbox()
export const engine = { sandbox, execution: { prices: { 'simulated/simulated': price } } }

/** A row of the table. */
export interface System {
  readonly name: string
  readonly category: string
  readonly fidelity: string
  /** Systems with the same name share their runs, so only one process works on them at a time. */
  readonly runs: string
  /** The name of its training run, if it learns. */
  readonly trains?: string
  /** Number of edges left out because types do not match, if it has a fixed topology. */
  leftOut?(opened: OpenedSet): Promise<number>
  /** Number of answers, if it is self-consistency. */
  readonly answers?: number
  evaluate(lab: Laboratory, opened: OpenedSet, seed: number): Promise<OrganisationReport>
}

function systemOf(definition: OrganisationDefinition, options: Record<string, number> = {}): System {
  const { category, fidelity } = definition
  const settings = Object.entries(options).map(([option, value]) => `:${option}=${value}`)
  const name = `${definition.name}${settings.join('')}`
  const open = ({ set: { library, profile } }: OpenedSet, seed: number) => {
    const means = { library, profile, seed, encoder: async () => lexicalEncoder }
    return openOrganisation(definition, means, options)
  }
  return {
    ...{ name, category, fidelity, runs: name, answers: options['answers'] },
    ...(definition.learner !== undefined && { trains: definition.name }),
    ...(category === 'topology' && {
      leftOut: async (opened: OpenedSet) => Number((await open(opened, 0)).about['leftOut']),
    }),
    async evaluate(lab, opened, seed) {
      if (definition.learner !== undefined) {
        const organisation = learnerSource(definition)
        const run = await lab.train(definition.name, opened, { seed }, { organisation })
        const trained = (await loadPolicy(run, { encoder: lexicalEncoder })).organisation({ name })
        return (await lab.evaluate(run, opened, trained, { seed })).report
      }
      const { organisation, about } = await open(opened, seed)
      return (await lab.evaluate(lab.run('untrained'), opened, organisation, about)).report
    },
  }
}

/** Our own system, with the users' default settings. */
const ours = { category: 'ours', fidelity: '–', runs: 'magic' }
const trainOurs = (lab: Laboratory, opened: OpenedSet, seed: number) =>
  lab.train('magic', opened, { ...trainingPresets.values, seed })

/** The best fixed graph found by a search with as many evaluations as the training paid for. */
const searched: System = {
  ...ours,
  name: 'searched',
  async evaluate(lab, opened, seed) {
    const folder = await trainOurs(lab, opened, seed)
    const model = await lab.options.model(opened.set)
    const found = await searchGraph({
      ...{ ...engine, set: opened.set, model, encoder: lexicalEncoder, folder, seed },
    })
    if (found.ended !== 'done') throw new Error('The search was interrupted.')
    const { organisation, about } = searchedOrganisation(found.search)
    return (await lab.evaluate(folder, opened, organisation, about)).report
  },
}

const magic: System = {
  ...ours,
  name: 'MAGIC (by values)',
  trains: 'magic',
  async evaluate(lab, opened, seed) {
    const run = await trainOurs(lab, opened, seed)
    const organisation = (await loadPolicy(run, { encoder: lexicalEncoder })).organisation({ name: 'MAGIC' })
    return (await lab.evaluate(run, opened, organisation, { seed })).report
  },
}

/** Self-consistency up to more tokens than the most expensive system uses, for the column of matched tokens. */
const answers = [1, 3, 5, 7, 9, 11, 15, 21, 31, 51]

/** In the order of the table, direct first. */
export const allSystems: readonly System[] = organisations
  .flatMap((definition) =>
    definition.name === 'self-consistency'
      ? answers.map((count) => systemOf(definition, { answers: count }))
      : [systemOf(definition)],
  )
  .concat(searched, magic)
