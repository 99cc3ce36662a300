import { Command } from 'commander'
import { expect, test } from 'vitest'
import type { Configuration } from '../../configuration/configuration.ts'
import { trainingSettings } from '../../settings/training.ts'
import { UsageError } from '../problem.ts'
import {
  addBudgetOptions,
  addTrainingOptions,
  type BudgetOptions,
  givenSettings,
  type TrainingOptions,
} from './training-options.ts'

const file = 'magic.config.ts'

function settled(options: TrainingOptions, configuration?: Configuration) {
  return trainingSettings.parse(givenSettings(options, configuration).settings)
}

test('flags override the configuration, which overrides the preset', () => {
  const configuration: Configuration = { file, preset: 'values', training: { passes: 3, trajectories: 4 } }
  expect(settled({ trajectories: 6 }, configuration)).toMatchObject({
    hidden: 128,
    passes: 3,
    trajectories: 6,
    requestReuse: true,
  })
})

test("a configuration that sets some rewards keeps the preset's others", () => {
  const configuration: Configuration = { file, preset: 'values', training: { rewards: { beta: 0.1 } } }
  expect(settled({ set: { rewards: { gammaR: 0.2 } } }, configuration).rewards).toMatchObject({
    beta: 0.1,
    gammaR: 0.2,
    epsilon: 1e-8,
  })
  expect(settled({}, { file, training: { rewards: { beta: 0.1 } } }).rewards).toMatchObject({
    beta: 0.1,
    epsilon: 1e-8,
    tokenPenalty: 0,
  })
})

test('without a preset the method picks one: the named method, the implied one, or the default for the tasks', () => {
  const method = (options: TrainingOptions, usual: 'paper' | 'values') => {
    const { method, gain } = trainingSettings.parse(
      givenSettings(options, undefined, { method: usual }).settings,
    )
    return [method, gain]
  }
  expect(method({}, 'values')).toEqual(['values', 10])
  expect(method({}, 'paper')).toEqual(['paper', 1])
  expect(method({ method: 'values' }, 'paper')).toEqual(['values', 10])
  expect(method({ updates: 3 }, 'values')).toEqual(['paper', 1])
  expect(method({ set: { method: 'paper' } }, 'values')).toEqual(['paper', 1])
  expect(method({ method: 'values', set: { gain: 3 } }, 'paper')).toEqual(['values', 3])
  expect(() => method({ method: 'values', updates: 3 }, 'paper')).toThrow(
    "Only the paper's method has updates.",
  )
})

/** The options commander parses from these arguments. */
function parsed(...args: string[]): TrainingOptions & BudgetOptions {
  const command = new Command()
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .action(() => {})
  addBudgetOptions(addTrainingOptions(command)).parse(args, { from: 'user' })
  return command.opts()
}

test("flags are the schema's settings, with its bounds", () => {
  const options = parsed('--learning-rate', '0.01', '--restriction', 'all-group', '--no-request-reuse')
  expect(givenSettings(options).settings).toEqual({
    learningRate: 0.01,
    restriction: 'all-group',
    requestReuse: false,
  })
  expect(givenSettings(parsed(), { file, training: { requestReuse: false } }).settings).toEqual({
    requestReuse: false,
  })
  expect(givenSettings(parsed('--points-per-1000-tokens', '2')).settings).toEqual({ pointsPer1000Tokens: 2 })
  expect(() => parsed('--learning-rate', '0')).toThrow('It must be a number above 0.')
  expect(() => parsed('--passes', '1001')).toThrow('It must be a whole number from 1 to 1000.')
  expect(() => parsed('--max-calls', '-1')).toThrow('It must be a whole number, 0 or more.')
  expect(() => parsed('--max-cost', 'lots')).toThrow('It must be a number, 0 or more.')
})

test('--set reaches every setting, and the last value wins', () => {
  const options = parsed(
    ...['--set', 'rewards.beta=0.1', 'rewards.u0=0.25', 'temperatureStart=2', 'training.rewards.beta=0.2'],
    ...['--set', 'execution.decoding.temperature=0.5', 'execution.traceContent=false', 'budget.calls=7'],
  )
  expect(givenSettings(options).settings).toEqual({
    rewards: { beta: 0.2, u0: 0.25 },
    temperatureStart: 2,
  })
  const configuration: Configuration = { file, execution: { decoding: { json: false } }, budget: { cost: 1 } }
  expect(givenSettings(options, configuration).execution).toEqual({
    decoding: { json: false, temperature: 0.5 },
    traceContent: false,
  })
  expect(givenSettings({ ...options, maxCost: 3 }, configuration).budget).toEqual({ cost: 3, calls: 7 })
})

test.each([
  [
    'rewards.betta=1',
    /There is no setting 'rewards.betta'. Did you mean 'rewards.beta'\? .* rewards\.alpha +1; any number/s,
  ],
  ['rewards=1', /There is no setting 'rewards'/],
  ['execution.prices=1', /There is no setting 'execution.prices'/],
  ['rewards.beta', /Write setting=value, such as rewards.beta=0.05/],
  ['rewards.beta=', /It must be a number\./],
  ['rewards.eta=1.5', /It must be a number from 0 to 1\./],
  ['restriction=some', /It must be mixed or all-atomic or all-group\./],
  ['finalRewardOnly=1', /It must be true or false\./],
])('--set %s is refused', (text, problem) => {
  expect(() => parsed('--set', text)).toThrow(problem)
})

test('--set without a value lists the settings', () => {
  expect(() => parsed('--set')).toThrow(UsageError)
  expect(() => parsed('--set')).toThrow(/rewards\.beta {2}\(default 0\.02, any number\)\n {6}β: weight of /)
})
