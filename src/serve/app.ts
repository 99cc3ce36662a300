import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { WorkOverview } from '../workers/overview.ts'
import { Admission } from './admission.ts'
import { readChatRequest } from './chat-request.ts'
import { type Answering, complete, type Offered } from './complete.ts'
import { type GuardOptions, guard } from './guard.ts'
import { jsonReply } from './json-reply.ts'
import { Metrics } from './metrics.ts'
import { RateLimit } from './rate-limit.ts'
import { internalError, Refusal } from './refusal.ts'
import { workMetrics } from './work-metrics.ts'

export interface ServeLimits {
  readonly bodyBytes: number
  /** Requests per minute, from one address and in total. */
  readonly rate: number
  readonly rateOfAll: number
  /** Limits on requests that run at once and that wait. */
  readonly running: number
  readonly waiting: number
}

export interface AppOptions extends Pick<Answering, 'log' | 'logPrompts'> {
  readonly policies: readonly Offered[]
  readonly guard: Omit<GuardOptions, 'open'>
  readonly limits: ServeLimits
  /** Once aborted, new requests are refused. */
  readonly closing: AbortSignal
  /** State of a shared PostgreSQL queue, if any, for `/metrics`. */
  readonly work?: () => Promise<WorkOverview>
}

type Env = {
  Variables: {
    /** Fields of the request's log line. */
    noted: Record<string, unknown>
    /** Resolves at the end of a streamed reply. */
    ended?: Promise<void>
  }
}

/** Health checks reveal nothing, so they need no token. */
const healthPaths = ['/healthz', '/readyz']

/** An OpenAI-compatible API that offers each trained policy as a model. */
export function serveApp(options: AppOptions): Hono<Env> {
  const { policies, limits, closing, log } = options
  const offered = new Map(policies.map((policy) => [policy.id, policy]))
  const admission = new Admission(limits.running, limits.waiting)
  const rates = { one: new RateLimit(limits.rate), all: new RateLimit(limits.rateOfAll) }
  const metrics = new Metrics([
    {
      name: 'magic_requests_running',
      help: 'Requests being answered.',
      read: () => admission.running,
    },
    {
      name: 'magic_requests_waiting',
      help: 'Requests waiting for their turn.',
      read: () => admission.waiting,
    },
    {
      name: 'process_resident_memory_bytes',
      help: 'Memory of this process.',
      read: () => process.memoryUsage.rss(),
    },
  ])
  const answering = { admission, metrics, log, logPrompts: options.logPrompts }
  const app = new Hono<Env>()

  app.use(async (context, next) => {
    const start = performance.now()
    const { method, path } = context.req
    const noted = { method, path: path.slice(0, 200), client: clientOf(context) }
    context.set('noted', noted)
    await next()
    const { status } = context.res
    const end = () => {
      metrics.countRequest(routeOf(path), status)
      if (!healthPaths.includes(path))
        log({ event: 'request', ...noted, status, ms: Math.round(performance.now() - start) })
    }
    // A stream continues after its handler has returned.
    const ended = context.get('ended')
    if (ended === undefined) end()
    else ended.finally(end)
  })
  app.use(guard({ ...options.guard, open: healthPaths }))
  app.use(async (context, next) => {
    if (closing.aborted && context.req.path !== '/healthz')
      throw new Refusal(503, 'This server is shutting down.', { ...closeConnection, code: 'shutting_down' })
    await next()
  })

  app.get('/healthz', (context) => context.text('ok'))
  app.get('/readyz', (context) => context.text('ok'))
  app.get('/metrics', async (context) => {
    // If the database is down, the other metrics are still shown.
    const work = await options.work?.().catch(() => undefined)
    const text = metrics.text + (work === undefined ? '' : workMetrics(work))
    return context.text(text, 200, { 'content-type': 'text/plain; version=0.0.4' })
  })
  app.get('/v1/models', (context) => context.json({ object: 'list', data: policies.map(modelEntry) }))
  app.get('/v1/models/:model', (context) =>
    context.json(modelEntry(find(offered, context.req.param('model')))),
  )
  app.post(
    '/v1/chat/completions',
    async (context, next) => {
      const client = clientOf(context)
      const wait = rates.one.take(client) ?? rates.all.take('')
      if (wait !== undefined)
        throw new Refusal(429, 'Too many requests. Try again later.', {
          ...{ code: 'rate_limit_exceeded', headers: { 'retry-after': String(wait) } },
        })
      if (!/^application\/json\b/i.test(context.req.header('content-type') ?? ''))
        throw new Refusal(415, 'Send JSON, with `content-type: application/json`.', {
          code: 'unsupported_media_type',
        })
      await next()
    },
    limitBody(limits.bodyBytes),
    async (context) => {
      const body = readChatRequest(await readBody(context))
      const policy = find(offered, body.model)
      policy.spending.assertLeft()
      const completed = await complete(answering, policy, body, {
        ...{ signal: context.req.raw.signal, noted: context.get('noted') },
      })
      if ('completion' in completed) return jsonReply(context, completed.completion)
      context.set('ended', completed.ended)
      return completed.stream
    },
  )
  for (const [path, allow] of Object.entries(methods))
    app.all(path, () => {
      throw new Refusal(405, `Use ${allow} here.`, { code: 'method_not_allowed', headers: { allow } })
    })
  app.notFound(() => new Refusal(404, 'There is no such path.', { code: 'unknown_url' }).response)
  app.onError((error, context) => {
    if (error instanceof Refusal) {
      context.get('noted')['code'] = error.code
      if (error.cause !== undefined) log({ event: 'refused', code: error.code, cause: String(error.cause) })
      return error.response
    }
    log({ event: 'error', error: error.stack ?? String(error) })
    return internalError().response
  })
  return app
}

const methods = {
  '/healthz': 'GET',
  '/readyz': 'GET',
  '/metrics': 'GET',
  '/v1/models': 'GET',
  '/v1/models/:model': 'GET',
  '/v1/chat/completions': 'POST',
}

const closeConnection = { headers: { connection: 'close' } }

function find(offered: ReadonlyMap<string, Offered>, model: string): Offered {
  const found = offered.get(model)
  if (found !== undefined) return found
  throw new Refusal(
    404,
    `There is no model '${model.slice(0, 100)}'. GET /v1/models lists the available ones.`,
    {
      ...{ code: 'model_not_found', param: 'model' },
    },
  )
}

function modelEntry({ id, policy, isSimulated, model }: Offered): object {
  const created = Math.floor(Date.parse(policy.run.createdAt) / 1000) || 0
  const { provider, model: name } = model.identity
  return {
    ...{ id, object: 'model', created, owned_by: 'magic' },
    magic: {
      update: policy.update,
      tasks: policy.run.tasks.name,
      model: `${provider}/${name}`,
      simulated: isSimulated,
    },
  }
}

/** Uses `content-length` if present: counting a body as it arrives costs a web stream. */
function limitBody(maxSize: number): MiddlewareHandler {
  const counted = bodyLimit({ maxSize, onError: tooLarge })
  return (context, next) => {
    const { headers } = context.req.raw
    const length = headers.get('content-length')
    if (length === null || headers.has('transfer-encoding')) return counted(context, next)
    return Number(length) > maxSize ? tooLarge() : next()
  }
}

function tooLarge(): never {
  throw new Refusal(413, 'The body is too large.', {
    ...closeConnection,
    code: 'body_too_large',
  })
}

async function readBody(context: Context<Env>): Promise<string> {
  try {
    return await context.req.text()
  } catch {
    throw new Refusal(408, 'The body did not arrive in full.', {
      ...closeConnection,
      code: 'incomplete_body',
    })
  }
}

/** The connection's address, since headers such as `X-Forwarded-For` can be forged. */
function clientOf(context: Context<Env>): string {
  const env = context.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined
  return env?.incoming?.socket?.remoteAddress ?? 'unknown'
}

/** One of our routes or `other`, so that clients cannot add labels to the metrics. */
function routeOf(path: string): string {
  if (Object.hasOwn(methods, path)) return path
  return /^\/v1\/models\/[^/]+$/.test(path) ? '/v1/models/:model' : 'other'
}
