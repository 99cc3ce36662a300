import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

// OpenTelemetry's SDK is an optional peer. Spans are sent if it is installed and one of these variables names a collector.
const endpointVariables = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']

const packages = ['@opentelemetry/sdk-trace-node', '@opentelemetry/exporter-trace-otlp-http']

/** How long to wait for the collector to accept a connection. */
const connectMs = 1000

/** Sends spans to the collector named in the environment, if any. Call the result to flush and stop. */
export async function startTelemetry(environment = process.env): Promise<() => Promise<void>> {
  const endpoint = endpointVariables.map((name) => environment[name]).find(Boolean)
  if (endpoint === undefined || environment['OTEL_SDK_DISABLED'] === 'true') return async () => {}
  try {
    const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node')
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http')
    const exporter = new OTLPTraceExporter()
    // Checked while the command works, so that a missing collector costs no time at the end.
    const problem = unreachable(endpoint)
    const provider = new NodeTracerProvider({
      spanProcessors: [
        new BatchSpanProcessor({
          export: (spans, tell) =>
            void problem.then((why) =>
              why === undefined ? exporter.export(spans, tell) : tell({ code: 1, error: new Error(why) }),
            ),
          shutdown: () => exporter.shutdown(),
        }),
      ],
    })
    provider.register()
    return async () => {
      const why = await problem
      // An unreachable collector must not fail the command.
      const failed = await provider.shutdown().then(
        () => why,
        (error: Error) => error.message,
      )
      if (failed !== undefined) process.stderr.write(`OpenTelemetry spans were not sent: ${failed}\n`)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    process.stderr.write(`To send OpenTelemetry spans: npm install ${wantedPackages().join(' ')}\n`)
    return async () => {}
  }
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
