import { expect, test } from 'vitest'
import type { Configuration } from '../../configuration/configuration.ts'
import { trainingSettings } from '../../settings/training.ts'
import { UsageError } from '../problem.ts'
import { givenTraining, type TrainingOptions } from './training-options.ts'

const file = 'magic.config.ts'

function settled(options: TrainingOptions, configuration?: Configuration) {
  return trainingSettings.parse(givenTraining(options, configuration))
}

test('flags count before the configuration, and that before the preset', () => {
  const configuration: Configuration = { file, preset: 'demo', training: { passes: 3, trajectories: 4 } }
  expect(settled({ trajectories: 6 }, configuration)).toMatchObject({
    hidden: 128,
    passes: 3,
    trajectories: 6,
    requestReuse: true,
  })
})

test("a configuration that says something about rewards leaves the preset's others as they are", () => {
  const configuration: Configuration = { file, preset: 'demo', training: { rewards: { beta: 0.1 } } }
  expect(settled({ set: ['rewards.gammaR=0.2'] }, configuration).rewards).toMatchObject({
    beta: 0.1,
    gammaR: 0.2,
    epsilon: 0.5,
    tokenPenalty: 3e-6,
  })
  expect(settled({}, { file, training: { rewards: { beta: 0.1 } } }).rewards).toMatchObject({
    beta: 0.1,
    epsilon: 1e-8,
    tokenPenalty: 0,
  })
})

test('what is no setting is refused by name', () => {
  expect(() => givenTraining({ set: ['rewards.betta=1'] }, undefined)).toThrow(UsageError)
  expect(() => givenTraining({ set: ['rewards.betta=1'] }, undefined)).toThrow(/betta/)
})
