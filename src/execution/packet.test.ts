import { expect, test } from 'vitest'
import { defaultSettings } from '../settings/execution.ts'
import type { Packet } from './packet.ts'
import { projectPacket, renamed } from './packet.ts'

const packet: Packet = {
  node: 'u1.aggregator',
  name: 'a-12345678',
  task: 't',
  role: 'a',
  executor: 'a_all',
  part: 'aggregator',
  granularity: 'group',
  status: 'ok',
  analysis: 'Both say "yes".',
  answer: { values: ['1'], scale: '' },
  toolObservation: { tool: 'calculator', status: 'ok', result: { value: 3 } },
}
const { budgets } = defaultSettings

test('a message has id, role, granularity, status, analysis, answer and tool observation, in this order', () => {
  expect(projectPacket(packet, budgets)).toBe(
    '{"id":"a-12345678","role":"a","granularity":"group","status":"ok","analysis":"Both say \\"yes\\".",' +
      '"answer":{"values":["1"],"scale":""},"tool_observation":{"tool":"calculator","status":"ok","result":{"value":3}}}',
  )
})

test('a failure passes on only its status', () => {
  const { toolObservation, ...rest } = packet
  const failure: Packet = {
    ...rest,
    status: 'model_failure',
    reason: 'HTTP 500',
    analysis: null,
    answer: null,
  }
  expect(projectPacket(failure, budgets)).toBe(
    '{"id":"a-12345678","role":"a","granularity":"group","status":"model_failure","analysis":null,"answer":null}',
  )
})

test('each field has its budget', () => {
  const long: Packet = { ...packet, analysis: 'x'.repeat(1e6), answer: 'y'.repeat(1e6) }
  const { analysis, answer } = JSON.parse(projectPacket(long, budgets)) as {
    analysis: string
    answer: string
  }
  // The number in the notice may be a digit shorter than the space reserved for it.
  expect([0, 1]).toContain(budgets.analysis - analysis.length)
  expect([0, 1]).toContain(budgets.answer - JSON.stringify(answer).length)
  expect(answer).toMatch(/^y+ … \[cut: \d+ more characters\]$/)
})

test('a message can use another id', () => {
  expect(JSON.parse(renamed(projectPacket(packet, budgets), packet.name, 'a-12345678#2'))).toMatchObject({
    id: 'a-12345678#2',
    answer: packet.answer,
  })
})
