import { resolve } from 'node:path'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { UsageError } from '../problem.ts'
import {
  addModelOptions,
  type ModelOptions,
  type ModelSource,
  modelSource,
  sourceOfRun,
} from './model-options.ts'

const none: ModelOptions = {}
const configured = { preset: 'deepseek', model: 'one', apiKeyFile: '/keys/old' } as const
const endpoint: ModelSource = { kind: 'endpoint', settings: configured }
const simulated: ModelSource = { kind: 'simulated', seed: 3, latencyMs: 0, faults: {} }

test('flags override the configuration for the same endpoint', () => {
  const flags = { ...none, modelName: 'two', baseUrl: 'https://models.example/v1', apiKeyEnv: 'SPARE' }
  const source = modelSource(flags, configured)
  expect(source).toMatchObject({
    kind: 'endpoint',
    settings: { preset: 'deepseek', model: 'two', baseURL: 'https://models.example/v1', apiKeyEnv: 'SPARE' },
  })
  expect(source).not.toHaveProperty('settings.apiKeyFile')
  expect(modelSource(none, configured)).toMatchObject(endpoint)
})

test('naming another provider ignores the configuration', () => {
  expect(modelSource({ ...none, model: 'openai' }, configured)).not.toHaveProperty('settings.model')
  expect(modelSource({ ...none, model: 'simulated' }, configured)).toMatchObject({ kind: 'simulated' })
})

test('a key file path is stored as an absolute path', () => {
  const source = modelSource({ ...none, model: 'deepseek', apiKeyFile: 'key.txt' })
  expect(source).toHaveProperty('settings.apiKeyFile', resolve('key.txt'))
})

test('a run keeps its model while recording calls, and accepts another key', () => {
  expect(sourceOfRun(endpoint, { ...none, record: 'calls.jsonl' })).toMatchObject(endpoint)
  expect(sourceOfRun(simulated, { ...none, record: 'calls.jsonl' })).toEqual(simulated)
  const other = sourceOfRun(endpoint, { ...none, apiKeyEnv: 'SPARE' })
  expect(other).toMatchObject({ settings: { model: 'one', apiKeyEnv: 'SPARE' } })
  expect(other).not.toHaveProperty('settings.apiKeyFile')
  expect(sourceOfRun(endpoint, { ...none, model: 'simulated' })).toMatchObject({ kind: 'simulated', seed: 0 })
})

test.each(['baseUrl', 'modelName', 'apiKeyEnv', 'apiKeyFile'] as const)(
  '%s is refused with the simulated model',
  (flag) => {
    expect(() => modelSource({ ...none, [flag]: 'x' })).toThrow(UsageError)
    expect(() => sourceOfRun(simulated, { ...none, [flag]: 'x' })).toThrow(/no effect on the simulated model/)
  },
)

test("a run's simulated model takes seed and latency from flags, which other models refuse", () => {
  expect(sourceOfRun(simulated, { simulatedLatency: 300 })).toEqual({ ...simulated, latencyMs: 300 })
  expect(sourceOfRun(simulated, { simulatedSeed: 7 })).toEqual({ ...simulated, seed: 7 })
  expect(() => sourceOfRun(endpoint, { simulatedLatency: 300 })).toThrow(/^--simulated-latency is only for/)
  expect(() => modelSource({ model: 'openai', simulatedSeed: 0 })).toThrow(/^--simulated-seed is only for/)
})

test('commands on a run say that its own model is the default', () => {
  const helpOf = (usual?: 'of run') =>
    addModelOptions(new Command(), usual).helpInformation().replace(/\s+/g, ' ')
  expect(helpOf('of run')).toContain("the model provider, instead of the run's")
  expect(helpOf('of run')).not.toContain('the default, `simulated`')
  expect(helpOf()).toContain('the default, `simulated`')
})
