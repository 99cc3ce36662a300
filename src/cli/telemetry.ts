import { readFileSync } from 'node:fs'
import type { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'

// OpenTelemetry's SDK is an optional peer. Spans are sent if it is installed and one of these variables names a collector.
const endpointVariables = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']

const timeoutVariables = ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT']

const packages = ['@opentelemetry/sdk-trace-node', '@opentelemetry/exporter-trace-otlp-http']

/** How long to wait for the collector to accept a connection. */
const connectMs = 1000
/** How long the end of a command waits for a collector that has never answered, and for one that has. */
const patienceMs = { silent: 1000, known: 5000 }

/** Sends spans to the collector named in the environment, if any. Call the result to flush and stop. */
export async function startTelemetry(environment = process.env): Promise<() => Promise<void>> {
  const endpoint = endpointVariables.map((name) => environment[name]).find(Boolean)
  if (endpoint === undefined || environment['OTEL_SDK_DISABLED'] === 'true') return async () => {}
  try {
    const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node')
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http')
    const exporter = new OTLPTraceExporter({
      httpAgentOptions: quietAgent,
      // OpenTelemetry's own variables come first.
      timeoutMillis: timeoutVariables.some((name) => environment[name]) ? undefined : patienceMs.known,
    })
    const givenUp = Promise.withResolvers<string>()
    let hasAnswered = false
    // Both run while the command works, so that a collector that is gone or silent costs little time at the end.
    const problem = unreachable(endpoint)
    void problem.then((why) => {
      if (why === undefined) exporter.export([], ({ code }) => (hasAnswered ||= code === 0))
    })
    const provider = new NodeTracerProvider({
      spanProcessors: [
        new BatchSpanProcessor({
          export: async (spans, tell) => {
            const sent = Promise.withResolvers<string | undefined>()
            void problem.then((why) => {
              if (why !== undefined) return sent.resolve(why)
              exporter.export(spans, ({ code, error }) => {
                hasAnswered ||= code === 0
                sent.resolve(code === 0 ? undefined : (error?.message ?? 'the collector refused them'))
              })
            })
            const why = await Promise.race([sent.promise, givenUp.promise])
            tell(why === undefined ? { code: 0 } : { code: 1, error: new Error(why) })
          },
          shutdown: () => exporter.shutdown(),
        }),
      ],
    })
    provider.register()
    return async () => {
      const why = await problem
      const patience = hasAnswered ? patienceMs.known : patienceMs.silent
      const timer = setTimeout(() => givenUp.resolve(`${endpoint} does not answer`), patience)
      // A collector that fails must not fail the command.
      const failed = await Promise.race([provider.shutdown(), givenUp.promise]).then(
        (silent) => silent ?? why,
        (error: Error) => error.message,
      )
      clearTimeout(timer)
      if (failed !== undefined) process.stderr.write(`OpenTelemetry spans were not sent: ${failed}\n`)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    process.stderr.write(`To send OpenTelemetry spans: npm install ${wantedPackages().join(' ')}\n`)
    return async () => {}
  }
}

/** An agent whose connections do not keep the process alive: an export that hangs must not delay the end of a command. */
async function quietAgent(protocol: string): Promise<Agent> {
  const { Agent: AgentOf } = await (protocol === 'https:' ? import('node:https') : import('node:http'))
  const agent = new AgentOf({ keepAlive: false })
  const open = agent.createConnection.bind(agent)
  agent.createConnection = (options, whenOpen) => {
    const socket = open(options, whenOpen) as Socket | undefined
    return socket?.unref()
  }
  return agent
}

/** The packages in versions that work with ours; the newest may not. */
export function wantedPackages(): string[] {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { peerDependencies } = JSON.parse(text) as { peerDependencies: Record<string, string> }
  return packages.map((name) => `${name}@${peerDependencies[name]}`)
}

/** Why the collector is unreachable, or undefined if it accepts connections. */
function unreachable(endpoint: string): Promise<string | undefined> {
  if (!URL.canParse(endpoint)) return Promise.resolve(`${endpoint} is not a URL`)
  const { hostname, port, protocol } = new URL(endpoint)
  const usual = protocol === 'https:' ? 443 : 80
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || usual,
      timeout: connectMs,
    })
    const end = (why?: string) => {
      socket.destroy()
      resolve(why)
    }
    socket.once('connect', () => end())
    socket.once('timeout', () => end(`${endpoint} does not accept connections`))
    socket.once('error', ({ message }) => end(message))
  })
}
