// Programs with the expected verdict, from every .jsonl file of a folder.
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { SandboxPool } from '../src/sandbox/pool.ts'
import { scoreProgram } from '../src/tasks/scoring/code/score-program.ts'
import type { HumanevalReference, LivecodebenchReference } from '../src/tasks/scoring/reference.ts'
import { decodeTests } from '../src/tasks/sources/program-tests.ts'
import type { CaseResult, KindRunner } from './case.ts'

const caseSchema = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(['humaneval', 'lcb-stdin', 'lcb-function']),
  problem: z.record(z.string(), z.string()),
  program: z.unknown(),
  expected: z.object({ passed: z.boolean(), accept: z.array(z.string()) }),
  setup: z
    .object({
      env: z.record(z.string(), z.string()).default({}),
      host_files: z
        .union([
          z.record(z.string(), z.string()),
          z.array(z.union([z.string(), z.object({ path: z.string(), content: z.string().default('') })])),
        ])
        .default({}),
      listen_tcp: z.union([z.number(), z.array(z.number())]).optional(),
    })
    .nullish(),
  after: z.object({ must_not_exist: z.array(z.string()).default([]) }).nullish(),
})

const metadataSchema = z.object({ func_name: z.string().optional() })

type Case = z.infer<typeof caseSchema>

export const runCodeCases: KindRunner = async function* (folder) {
  const pool = new SandboxPool({ concurrency: 2 })
  const plain: Case[] = []
  // These touch what all cases share (environment, files, ports), so they run alone.
  const alone: Case[] = []
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.jsonl'))) {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n')
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue
      const { data, error } = caseSchema.safeParse(parseJson(line))
      if (data === undefined)
        yield { name: `${file}:${index + 1}`, failure: `not a case: ${z.prettifyError(error)}` }
      else if (data.setup || data.after) alone.push(data)
      else plain.push(data)
    }
  }
  for (const [index, result] of plain.map((one) => runCase(pool, one)).entries()) {
    const settled = await result
    if (settled.failure?.startsWith('timeout')) alone.push(plain[index]!)
    else yield settled
  }
  for (const one of alone) yield await inTime(() => runCase(pool, one))
}

/**
 * The wall-clock limit does not know how long a program waited for a core. On a busy machine, a program that should have passed
 * but timed out runs again, alone; one that is really too slow times out again.
 */
async function inTime(run: () => Promise<CaseResult>): Promise<CaseResult> {
  for (let round = 1; ; round += 1) {
    const result = await run()
    if (round === 10 || result.failure?.startsWith('timeout') !== true) return result
  }
}

async function runCase(pool: SandboxPool, one: Case): Promise<CaseResult> {
  const name = `${one.id} ${one.name}`
  const forbidden = one.after?.must_not_exist ?? []
  const before = forbidden.find((path) => existsSync(path))
  if (before !== undefined) return { name, failure: `${before} exists before the run` }
  try {
    const { score, status } = await withSetup(one, () => scoreProgram(pool, one.program, reference(one)))
    const written = forbidden.find((path) => existsSync(path))
    if (written !== undefined) return { name, failure: `${written} was written outside the sandbox` }
    const { passed, accept } = one.expected
    if ((score === 1) === passed && accept.includes(status)) return { name }
    return { name, failure: `${status}, expected ${accept.join(' or ')}` }
  } catch (problem) {
    return { name, failure: String(problem) }
  }
}

function reference({ kind, problem }: Case): HumanevalReference | LivecodebenchReference {
  const field = (name: string) => {
    const value = problem[name]
    if (value === undefined) throw new Error(`problem.${name} is missing`)
    return value
  }
  if (kind === 'humaneval') {
    return { kind, prompt: field('prompt'), entryPoint: field('entry_point'), test: field('test') }
  }
  const { func_name: entryPoint } = metadataSchema.parse(JSON.parse(field('metadata')))
  const starterCode = field('starter_code')
  return {
    kind: 'livecodebench',
    program:
      entryPoint === undefined
        ? { mode: 'stdin', starterCode }
        : { mode: 'function', starterCode, entryPoint },
    publicTests: decodeTests(field('public_test_cases')),
    privateTests: field('private_test_cases'),
  }
}

async function withSetup<T>({ setup }: Case, run: () => Promise<T>): Promise<T> {
  if (!setup) return run()
  const environment = { ...process.env }
  const files = hostFiles(setup.host_files)
  const ports = setup.listen_tcp === undefined ? [] : [setup.listen_tcp].flat()
  const listeners: Server[] = []
  try {
    Object.assign(process.env, setup.env)
    for (const [path, content] of files) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
    }
    for (const port of ports) listeners.push(await listen(port))
    return await run()
  } finally {
    for (const name of Object.keys(setup.env)) {
      if (environment[name] === undefined) delete process.env[name]
      else process.env[name] = environment[name]
    }
    for (const [path] of files) rmSync(path, { force: true })
    for (const listener of listeners) listener.close()
  }
}

function hostFiles(files: NonNullable<Case['setup']>['host_files']): Array<[path: string, content: string]> {
  if (!Array.isArray(files)) return Object.entries(files)
  return files.map((file) => (typeof file === 'string' ? [file, ''] : [file.path, file.content]))
}

/** Waits if the system has given the port to another connection. */
async function listen(port: number): Promise<Server> {
  for (;;) {
    const server = createServer((socket) => socket.end()).listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
      return server
    } catch (problem) {
      if ((problem as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw problem
      await wait(50)
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
