import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { wantedPackages } from '../../src/cli/telemetry.ts'
import { magicProcess } from '../magic.ts'

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

test('with a collector configured, a run sends spans that follow the GenAI conventions', async () => {
  const file = (name: string, content: unknown) => {
    writeFileSync(join(folder, name), JSON.stringify(content))
    return join(folder, name)
  }
  const task = file('task.json', { question: 'What is 6 times 7?' })
  const graph = file('graph.json', { units: [{ role: 'independent_solver', realization: 'group' }] })
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const words = ['run', '--task', task, '--graph', graph, '--contract', 'number', '--json']
  const { code, stdout } = await magicProcess({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } }, ...words)
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

test('an unreachable collector neither fails the command nor delays its answer', async () => {
  const task = join(folder, 'gone.json')
  writeFileSync(task, JSON.stringify({ question: 'What is 6 times 7?' }))
  // Nothing listens on port 9.
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }
  const { code, stdout, stderr } = await magicProcess(
    { env: variables },
    'run',
    '--task',
    task,
    '--contract',
    'number',
  )
  expect(code).toBe(0)
  expect(stdout).not.toBe('')
  expect(stderr).toMatch(/OpenTelemetry spans were not sent: .*ECONNREFUSED/)
})

test('a collector that accepts connections and never answers is not waited for', async () => {
  const silent = createTcpServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  try {
    const task = join(folder, 'silent.json')
    writeFileSync(task, JSON.stringify({ question: 'What is 6 times 7?' }))
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      // Waiting for its answer would take hours.
      OTEL_EXPORTER_OTLP_TIMEOUT: '9999999',
    }
    const words = ['run', '--task', task, '--contract', 'number']
    const { code, stdout, stderr } = await magicProcess({ env }, ...words)
    expect(code).toBe(0)
    expect(stdout).not.toBe('')
    expect(stderr).toMatch(/spans were not sent: .* does not answer/)
  } finally {
    silent.close()
  }
})

test('the suggested packages work with this version', () => {
  for (const wanted of wantedPackages()) {
    const [, name, range] = /^(.+)@\^(.+)$/.exec(wanted)!
    const installed = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'))
    // A caret allows later patches of 0.x, and later minors of anything above.
    const part = (version: string) => version.split('.').slice(0, version.startsWith('0.') ? 2 : 1)
    expect(part(installed.version)).toEqual(part(range!))
  }
})

test('without UTF-8, help is in ASCII', async () => {
  const { stdout } = await magicProcess({ env: { LANG: 'C', LC_ALL: '', LC_CTYPE: '' } }, 'run', '--help')
  expect(stdout).toMatch(/A task\s+is\s+\{ "question":\s+"." \}/)
  expect(stdout).toMatch(/^[ -~\n]*$/)
})
