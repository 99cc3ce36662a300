import { expect, test } from 'vitest'
import { modelDeviation } from './paper-model.ts'
import { d1Settings, q1Settings, q2Settings, sweepSettings } from './settings.ts'

const deviation = (provider: string, model: string, { paperModel }: { paperModel: string }) =>
  modelDeviation({ provider, model, options: {} }, paperModel)

test.each([
  ['deepseek', 'deepseek-v4-flash', q1Settings],
  ['vllm', 'deepseek-ai/DeepSeek-V4-Flash', q1Settings],
  ['alibaba', 'qwen-flash', q2Settings],
])("%s/%s is the study's model", (provider, model, settings) => {
  expect(deviation(provider, model, settings)).toBeUndefined()
})

test.each([
  ['alibaba', 'qwen-flash', q1Settings],
  ['deepseek', 'deepseek-v4-flash', q2Settings],
  ['deepseek', 'deepseek-reasoner', q1Settings],
  ['deepseek', 'deepseek-flash', q1Settings],
  ['vllm', 'not-qwen-flash', q2Settings],
])("%s/%s deviates from the study's model", (provider, model, settings) => {
  expect(deviation(provider, model, settings)).toBe(
    `The model is ${provider}/${model}; the paper's is ${settings.paperModel}.`,
  )
})

test('an unnamed paper model is reported, and studies beyond the paper have no deviation', () => {
  expect(deviation('alibaba', 'qwen-flash', d1Settings)).toBe(
    'The model is alibaba/qwen-flash; the paper does not name its own.',
  )
  expect(deviation('alibaba', 'qwen-flash', sweepSettings)).toBeUndefined()
})
