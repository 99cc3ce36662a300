import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

// OpenTelemetry's SDK is an optional peer: to get spans, install it and name a collector in the usual variables.
const endpointVariables = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']

const packages = ['@opentelemetry/sdk-trace-node', '@opentelemetry/exporter-trace-otlp-http']

/** A collector that has not taken a connection by then is not waited for. */
const connectMs = 1000

/** Sends spans to the collector that the environment names, if it names one. The result flushes and ends it. */
export async function startTelemetry(environment = process.env): Promise<() => Promise<void>> {
  const endpoint = endpointVariables.map((name) => environment[name]).find(Boolean)
  if (endpoint === undefined || environment['OTEL_SDK_DISABLED'] === 'true') return async () => {}
  try {
    const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node')
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http')
    const exporter = new OTLPTraceExporter()
    // Found out while the command works, so that a collector that is gone costs no time at its end.
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
      if (failed !== undefined) process.stderr.write(`Spans were not sent: ${failed}\n`)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    process.stderr.write(`No spans are sent: npm install ${wantedPackages().join(' ')}\n`)
    return async () => {}
  }
}

/** The packages with the versions that this one works with: the newest may be others. */
export function wantedPackages(): string[] {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { peerDependencies } = JSON.parse(text) as { peerDependencies: Record<string, string> }
  return packages.map((name) => `${name}@${peerDependencies[name]}`)
}

/** Why no connection to a collector can be had; nothing where it can. */
function unreachable(endpoint: string): Promise<string | undefined> {
  if (!URL.canParse(endpoint)) return Promise.resolve(`${endpoint} is no address`)
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
    socket.once('timeout', () => end(`${endpoint} takes no connection`))
    socket.once('error', ({ message }) => end(message))
  })
}
