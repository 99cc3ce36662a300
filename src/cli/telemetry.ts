// OpenTelemetry's SDK is an optional peer: to get spans, install it and name a collector in the usual variables.
const endpointVariables = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']

const packages = ['@opentelemetry/sdk-trace-node', '@opentelemetry/exporter-trace-otlp-http']

/** Sends spans to the collector that the environment names, if it names one. The result flushes and ends it. */
export async function startTelemetry(environment = process.env): Promise<() => Promise<void>> {
  const wanted =
    endpointVariables.some((name) => environment[name]) && environment['OTEL_SDK_DISABLED'] !== 'true'
  if (!wanted) return async () => {}
  try {
    const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node')
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http')
    const provider = new NodeTracerProvider({
      spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
    })
    provider.register()
    return async () => {
      try {
        await provider.shutdown()
      } catch (error) {
        // An unreachable collector must not fail the command.
        process.stderr.write(`Spans were not sent: ${(error as Error).message}\n`)
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    process.stderr.write(`No spans are sent: npm install ${packages.join(' ')}\n`)
    return async () => {}
  }
}
