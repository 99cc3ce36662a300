import { createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import { z } from 'zod'
import { Problem } from '../problem.ts'
import { guard } from '../serve/guard.ts'
import { Refusal } from '../serve/refusal.ts'
import type { WorkOverview } from '../workers/overview.ts'
import { type AskRun, answerQuestion } from './ask.ts'
import { comparison } from './comparison.ts'
import { frontEnd } from './front-end.ts'
import { liveRuns } from './live.ts'
import { pageHeaders } from './page-headers.ts'
import { answerDetail, evaluatedAnswer, kindRows, questionList, shownQuestionOf } from './questions.ts'
import { rebuiltConstruction } from './rebuilt-construction.ts'
import { runCurves, runDetail } from './run-detail.ts'
import { runFile } from './run-files.ts'
import { runRow } from './run-row.ts'
import { RunShelf, UnknownError } from './run-shelf.ts'
import { type OpenTasks, runTasks } from './run-tasks.ts'
import { shownTrace } from './shown-trace.ts'

export interface ViewOptions {
  /** The folder of the runs. */
  readonly runs: string
  /** The folder of the built pages. */
  readonly pages: string
  readonly version: string
  /** Opens a run's questions, or rejects with the reason why they cannot be shown. */
  readonly openTasks: OpenTasks
  /** Absent if asking is not allowed; then nothing here can spend money. */
  readonly ask?: AskRun
  /** Looks at the shared queue and its workers. Absent without a shared PostgreSQL. */
  readonly work?: () => Promise<WorkOverview>
  /** Ends all streams. */
  readonly closing: AbortSignal
}

const largestBody = 128 * 1024
const answerName = z.object({ task: z.string(), organisation: z.string() })
const count = z.coerce.number().int().min(0).default(0)
const runNames = z
  .string()
  .transform((text) => [...new Set(text.split(',').filter(Boolean))])
  .pipe(z.array(z.string()).min(1).max(20))

/** The dashboard's HTTP API. It only reads run folders, with the same functions as the commands, unless it may ask. */
export function viewApp({ runs, pages, version, openTasks, ask, work, closing }: ViewOptions): Hono {
  const shelf = new RunShelf(runs)
  const tasksOf = runTasks(openTasks)
  const app = new Hono()
  const asked = (context: Context) => {
    const run = shelf.find(context.req.param('run') ?? '')
    return { run, ...answerName.parse(context.req.query()) }
  }
  app.use(pageHeaders())
  app.use(guard({ host: '127.0.0.1' }))
  app.onError((error, context) => {
    if (error instanceof HTTPException) return error.getResponse()
    if (error instanceof Refusal) return context.json({ error: error.message }, error.status)
    if (error instanceof UnknownError) return context.json({ error: error.message }, 404)
    if (error instanceof z.ZodError) return context.json({ error: z.prettifyError(error) }, 400)
    if (error instanceof Problem) return context.json({ error: error.message }, 409)
    console.error(error)
    return context.json({ error: 'Internal error; see the terminal that runs the dashboard.' }, 500)
  })

  app.get('/api/about', (context) =>
    context.json({ version, runs, allowAsk: ask !== undefined, hasWorkers: work !== undefined }),
  )
  app.get('/api/runs', (context) => context.json(shelf.list().map(runRow)))
  if (work !== undefined)
    app.get('/api/workers', async (context) => {
      // The error's message contains the database's address.
      const overview = await work().catch(() => undefined)
      if (overview !== undefined) return context.json(overview)
      throw new Refusal(503, 'The PostgreSQL shared by the workers cannot be reached.')
    })
  app.get('/api/live', (context) => liveRuns(context, shelf, closing))
  app.get('/api/compare', (context) => {
    const names = runNames.parse(context.req.query('runs') ?? '')
    return context.json(
      comparison(
        names.map((name) => shelf.find(name)),
        context.req.query('split') ?? 'test',
        context.req.query('base'),
      ),
    )
  })
  app.get('/api/runs/:run', (context) => context.json(runDetail(shelf.find(context.req.param('run')))))
  app.get('/api/runs/:run/curves', (context) =>
    context.json(runCurves(shelf.find(context.req.param('run')), count.parse(context.req.query('after')))),
  )
  app.get('/api/runs/:run/questions', async (context) => {
    const run = shelf.find(context.req.param('run'))
    return context.json(questionList(run, await tasksOf(run)))
  })
  app.get('/api/runs/:run/kinds', async (context) => {
    const run = shelf.find(context.req.param('run'))
    return context.json(kindRows(run, await tasksOf(run)))
  })
  app.get('/api/runs/:run/question', async (context) => {
    const run = shelf.find(context.req.param('run'))
    return context.json(await shownQuestionOf(run, await tasksOf(run), context.req.query('task') ?? ''))
  })
  app.get('/api/runs/:run/construction', async (context) => {
    const { run, task, organisation } = asked(context)
    const { evaluation, record } = evaluatedAnswer(run, task, organisation)
    const { questions, problem } = await tasksOf(run)
    const known = questions.get(task)
    if (known === undefined) throw new UnknownError(problem ?? 'The text of the question is unknown.')
    return context.json(await rebuiltConstruction(run.folder, evaluation.header, known.task, record))
  })
  app.get('/api/runs/:run/trace', async (context) => {
    const { run, task, organisation } = asked(context)
    return context.json(shownTrace(await answerDetail(run, task, organisation)))
  })
  app.get('/api/runs/:run/file', (context) => {
    const run = shelf.find(context.req.param('run'))
    const path = runFile(run.folder.path, context.req.query('path') ?? '')
    return new Response(Readable.toWeb(createReadStream(path)) as ReadableStream, {
      headers: {
        'Content-Type': 'application/octet-stream',
        'Content-Length': String(statSync(path).size),
        'Content-Disposition': `attachment; filename="${basename(path).replace(/[^\w.-]/g, '_')}"`,
      },
    })
  })
  if (ask !== undefined)
    app.post('/api/ask', bodyLimit({ maxSize: largestBody }), (context) =>
      answerQuestion(context, shelf, ask, closing),
    )
  app.all('/api/*', (context) => context.json({ error: 'There is nothing here.' }, 404))
  app.get('*', frontEnd(pages))
  return app
}
