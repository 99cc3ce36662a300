import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { canaryPassword, Postgres } from '../postgres/server.ts'
import { readCompose } from './files.ts'

export interface StartedService {
  readonly process: ChildProcess
  readonly ended: Promise<number | null>
  /** Everything it has written so far. */
  said(): string
}

/**
 * What `docker compose up` starts, as plain processes: the same commands with the same environment. Only
 * places differ: /data is a temporary folder, `postgres:5432` a server on loopback, and the published port a
 * free one.
 */
export class Composition {
  readonly folder = mkdtempSync(join(tmpdir(), 'magic-compose-'))
  readonly token = 'token-of-the-test'
  /** Of the server started last. */
  url = ''
  readonly #services = readCompose().services
  readonly #postgres: Postgres
  readonly #address: string
  readonly #started: StartedService[] = []

  private constructor(postgres: Postgres, address: string) {
    this.#postgres = postgres
    this.#address = address
    mkdirSync(join(this.folder, 'runs'))
    // The image's entrypoint, on the PATH as in the image.
    mkdirSync(join(this.folder, 'bin'))
    const main = new URL('../../bin/magic.js', import.meta.url).pathname
    const shim = join(this.folder, 'bin', 'magic')
    writeFileSync(shim, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
    chmodSync(shim, 0o755)
  }

  static async open(): Promise<Composition> {
    const [program, ...flags] = readCompose().services['postgres']!.command
    if (program !== 'postgres') throw new Error('The service postgres runs another program.')
    const postgres = await Postgres.start({ settings: flags.filter((word) => word !== '-c') })
    return new Composition(postgres, await postgres.database())
  }

  async start(name: string): Promise<StartedService> {
    const { entrypoint = ['magic'], command, environment, ports } = this.#services[name]!
    // A new one each time: another process may have taken the last.
    if (ports !== undefined) this.url = `http://127.0.0.1:${await freePort()}`
    const [file, ...words] = [...entrypoint, ...command].map((word) => this.#placed(word))
    const given = Object.entries(environment).map(([key, value]) => [key, this.#placed(value)])
    const child = spawn(file!, words, {
      cwd: this.folder,
      env: {
        PATH: `${join(this.folder, 'bin')}${delimiter}${process.env['PATH']}`,
        HOME: this.folder,
        ...Object.fromEntries(given),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => {
        said += bytes
      })
    const ended = once(child, 'close').then(([code]) => code as number | null)
    const started = { process: child, ended, said: () => said }
    this.#started.push(started)
    return started
  }

  async close(): Promise<void> {
    for (const { process } of this.#started) process.kill('SIGKILL')
    await Promise.all(this.#started.map(({ ended }) => ended))
    await this.#postgres.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  #placed(text: string): string {
    const variables: Readonly<Record<string, string>> = { MAGIC_TOKEN: this.token }
    const { pathname, host } = new URL(this.#address)
    return text
      .replace(/\$\{([A-Z_]+):[-?]([^}]*)\}/g, (_, name, usual) =>
        name === 'POSTGRES_PASSWORD' ? encodeURIComponent(canaryPassword) : (variables[name] ?? usual),
      )
      .replace('@postgres:5432/magic', `@${host}${pathname}`)
      .replaceAll('/data/', `${this.folder}/`)
      .replace(/^0\.0\.0\.0$/, '127.0.0.1')
      .replace(/^8080$/, () => new URL(this.url).port)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
