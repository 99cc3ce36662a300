import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { RunFolder } from '../../src/store/run-folder.ts'

/** A training of a few dozen calls. */
export const smallRun = 'synthetic --train-size 6 --test-size 6 --encoder lexical --method paper --updates 2'

/** Runs `magic` commands, each in its own process, in one folder. */
export class Commands {
  readonly folder = mkdtempSync(join(tmpdir(), 'magic-commands-'))

  /** Without an address it has no PostgreSQL. */
  start(line: string, address?: string, environment: Readonly<Record<string, string>> = {}) {
    const { MAGIC_LEDGER: _, ...env } = process.env
    const main = new URL('../../bin/magic.js', import.meta.url).pathname
    const child = spawn(process.execPath, [main, ...line.split(' ')], {
      cwd: this.folder,
      env: { ...env, ...environment, ...(address === undefined ? {} : { MAGIC_LEDGER: address }) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const told = Promise.all([text(child.stdout), text(child.stderr)])
    const ended = once(child, 'close').then(async ([code]) => {
      const [out, errors] = await told
      return { code, out, errors }
    })
    return { child, ended }
  }

  run(line: string, address?: string, environment?: Readonly<Record<string, string>>) {
    return this.start(line, address, environment).ended
  }

  /** The last weights of a run. */
  weights(run: string): Buffer {
    const there = new RunFolder(join(this.folder, 'runs', run))
    return readFileSync(join(there.checkpointPath(there.checkpoints().at(-1)!), 'policy.safetensors'))
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
