import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'

const run = promisify(execFile)

/** Part of every address, so that a test can look for it where it must not be. */
export const canaryPassword = 'canary-Pa55/word'

/** Outlives a killed test process: its standard input ends, and it removes the server and its folder. */
const keeper = `cat > /dev/null
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
if [ -n "$pid" ]; then
  kill -CONT "$pid" 2>/dev/null
  kill -QUIT "$pid" 2>/dev/null
  while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
fi
rm -rf "$1"`

export interface PostgresOptions {
  /** For crash tests: commits wait for the disk. Elsewhere that only costs time. */
  readonly durable?: boolean
  /** More lines for postgresql.conf, such as `max_connections = 20`. */
  readonly settings?: readonly string[]
}

/**
 * A real PostgreSQL on loopback, in its own temporary folder. One per test file, because it takes a second
 * to start. Each test uses a new database.
 */
export class Postgres {
  readonly port: number
  readonly #folder: string
  readonly #keeper: ChildProcess
  #databases = 0

  private constructor(port: number, folder: string, watch: ChildProcess) {
    this.port = port
    this.#folder = folder
    this.#keeper = watch
  }

  static async start({ durable = false, settings = [] }: PostgresOptions = {}): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'magic-postgres-'))
    const owner = serverOwner()
    if (owner !== undefined) chownSync(folder, owner.uid, owner.gid)
    const watch = spawn('bash', ['-c', keeper, 'bash', folder], {
      // Its own process group: interrupting the tests must not interrupt the cleanup.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    watch.unref()
    ;(watch.stdin as unknown as { unref(): void }).unref()
    const secret = join(folder, 'password')
    writeFileSync(secret, canaryPassword, { mode: 0o644 })
    const data = join(folder, 'data')
    const words = [
      '-U',
      'magic',
      '--auth=scram-sha-256',
      `--pwfile=${secret}`,
      '--encoding=UTF8',
      '--locale=C',
    ]
    await run(...asOwner('initdb', ['-D', data, ...words, '--no-sync', '--no-instructions']))
    const lines = [
      "listen_addresses = '127.0.0.1'",
      "unix_socket_directories = ''",
      'max_connections = 60',
      'shared_buffers = 32MB',
      "log_min_messages = 'fatal'",
      ...(durable ? [] : ['fsync = off', 'synchronous_commit = off', 'full_page_writes = off']),
      ...settings,
    ]
    for (let attempt = 1; ; attempt += 1) {
      const port = await freePort()
      writeFileSync(join(data, 'postgresql.auto.conf'), [...lines, `port = ${port}`, ''].join('\n'))
      const postgres = new Postgres(port, folder, watch)
      try {
        await postgres.restart()
        return postgres
      } catch (error) {
        // Another process may have taken the port since.
        if (attempt === 5) throw error
      }
    }
  }

  /** The address of a database, with the password in it. */
  address(database = 'postgres'): string {
    return `postgres://magic:${encodeURIComponent(canaryPassword)}@127.0.0.1:${this.port}/${database}`
  }

  /** Creates an empty database and returns its address. */
  async database(): Promise<string> {
    this.#databases += 1
    const name = `d${process.pid}_${this.#databases}`
    await this.query(`CREATE DATABASE ${name} STRATEGY file_copy`)
    return this.address(name)
  }

  /** Runs a statement in its own connection. */
  async query(text: string, address = this.address()): Promise<pg.QueryResult> {
    const client = new pg.Client(address)
    await client.connect()
    try {
      return await client.query(text)
    } finally {
      await client.end()
    }
  }

  /** Starts it again after a stop; a running one is stopped first. Its connections break. */
  async restart(): Promise<void> {
    if (this.pid !== undefined) await this.halt()
    await this.#control('start', '--wait', '--timeout=600', '--log', join(this.#folder, 'log'))
  }

  /** `immediate` is a crash: nothing is written before it ends. */
  async halt(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    await this.#control('stop', '--wait', '--timeout=600', '--mode', mode)
  }

  /** Stops it and removes its folder. */
  async stop(): Promise<void> {
    this.#keeper.ref()
    const gone = once(this.#keeper, 'close')
    this.#keeper.stdin!.end()
    await gone
  }

  /** The main process, while it runs. */
  get pid(): number | undefined {
    const file = join(this.#folder, 'data', 'postmaster.pid')
    return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : undefined
  }

  async #control(...words: string[]): Promise<void> {
    const [file, all] = asOwner('pg_ctl', ['-D', join(this.#folder, 'data'), '--silent', ...words])
    // No pipes: the server would inherit them, so they would never end.
    const control = spawn(file, all, { stdio: 'ignore' })
    const [code] = await once(control, 'close')
    if (code === 0) return
    const log = join(this.#folder, 'log')
    throw new Error(`pg_ctl ${words[0]} failed. ${existsSync(log) ? readFileSync(log, 'utf8') : ''}`)
  }
}

/** PostgreSQL refuses to run as root. */
function serverOwner(): { uid: number; gid: number } | undefined {
  if (userInfo().uid !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((entry) => entry.startsWith(`${name}:`))
    const [, , uid, gid] = line?.split(':') ?? []
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('Root needs a user postgres or nobody for PostgreSQL to run as.')
}

function asOwner(program: string, words: readonly string[]): [string, string[]] {
  const file = join(programs(), program)
  const owner = serverOwner()
  if (owner === undefined) return [file, [...words]]
  const identity = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups']
  return ['setpriv', [...identity, file, ...words]]
}

/** Debian keeps the server's programs off the PATH, by version. */
function programs(): string {
  const root = '/usr/lib/postgresql'
  const [newest] = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  if (newest === undefined)
    throw new Error('PostgreSQL is not installed: `npm run setup` installs or names it.')
  return join(root, newest, 'bin')
}

/**
 * Below the ephemeral ports: while PostgreSQL is down in the middle of a test, no outgoing connection or
 * other server can be assigned its port.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + randomInt(12_000)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch {
      continue
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
