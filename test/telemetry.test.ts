import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { magicWith } from './magic.ts'

interface Span {
  readonly name: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[]
}

const spans: Span[] = []
// A collector: OTLP over HTTP with JSON bodies.
const collector = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString())
    for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
})
const folder = mkdtempSync(join(tmpdir(), 'magic-telemetry-'))
beforeAll(() => new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  collector.close()
  rmSync(folder, { recursive: true, force: true })
})

test('with a collector configured, a run sends its spans by the GenAI conventions', async () => {
  const file = (name: string, content: unknown) => {
    writeFileSync(join(folder, name), JSON.stringify(content))
    return join(folder, name)
  }
  const task = file('task.json', { question: 'What is 6 times 7?' })
  const graph = file('graph.json', { units: [{ role: 'independent_solver', realization: 'group' }] })
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const words = ['run', '--task', task, '--graph', graph, '--contract', 'number', '--json']
  const { code, stdout } = await magicWith({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, ...words)
  expect(code).toBe(0)
  const named = (start: string) => spans.filter(({ name }) => name.startsWith(start))
  expect(named('invoke_workflow')).toHaveLength(1)
  expect(named('invoke_agent')).toHaveLength(5)
  expect(named('chat')).toHaveLength(JSON.parse(stdout).usage.calls)
  const workflow = named('invoke_workflow')[0]!
  for (const agent of named('invoke_agent')) expect(agent.parentSpanId).toBe(workflow.spanId)
  const keys = named('chat')[0]!.attributes.map(({ key }) => key)
  expect(keys).toContain('gen_ai.request.model')
  expect(keys).toContain('gen_ai.usage.input_tokens')
  // Contents are opt-in.
  expect(JSON.stringify(spans)).not.toContain('6 times 7')
})
