import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { SandboxPool } from '../../src/sandbox/pool.ts'
import { scoreProgram } from '../../src/tasks/scoring/code/score-program.ts'
import type { HumanevalReference } from '../../src/tasks/scoring/reference.ts'
import { Samples } from '../bench.ts'

interface Row {
  readonly task_id: string
  readonly prompt: string
  readonly entry_point: string
  readonly canonical_solution: string
  readonly test: string
}

const cores = 2

/** HumanEval's own solutions, in our sandboxes and in a fresh, unguarded interpreter each; two at a time. */
export async function measureHumaneval(
  file: string,
  python: string,
  rounds: number,
  say: (line: string) => void,
) {
  const rows = gunzipSync(readFileSync(file))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)
  const folder = mkdtempSync(join(tmpdir(), 'bench-humaneval-'))
  const pool = new SandboxPool({ concurrency: cores })
  try {
    const scripts = rows.map(({ prompt, canonical_solution, test, entry_point }, index) => {
      const path = join(folder, `${index}.py`)
      writeFileSync(path, `${prompt}${canonical_solution}\n${test}\ncheck(${entry_point})\n`)
      return path
    })
    const sandboxed = async (row: Row) => {
      const { prompt, entry_point: entryPoint, test } = row
      const reference: HumanevalReference = { kind: 'humaneval', prompt, entryPoint, test }
      const { status } = await scoreProgram(pool, prompt + row.canonical_solution, reference)
      if (status !== 'passed') throw new Error(`${row.task_id} ended as ${status} in the sandbox.`)
    }
    const ours = new Samples()
    const theirs = new Samples()
    const ratios = new Samples()
    await inTurns(rows.slice(0, 20), sandboxed)
    for (let round = 0; round < rounds; round += 1) {
      say(`HumanEval: round ${round + 1} of ${rounds} …`)
      const own = await inTurns(rows, sandboxed)
      const peer = await inTurns(scripts, (script) => runBare(python, script))
      ours.add(own)
      theirs.add(peer)
      ratios.add(peer / own)
    }
    return {
      rate: ratios.median,
      details: {
        programs: rows.length,
        cores,
        verdictsPerSecond: perSecond(rows.length, ours),
        barePerSecond: perSecond(rows.length, theirs),
        milliseconds: { ours: ours.summary(), bare: theirs.summary() },
      },
    }
  } finally {
    await pool.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs two at a time; returns the milliseconds for all. */
async function inTurns<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<number> {
  const start = performance.now()
  const queue = items.values()
  const lane = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: cores }, lane))
  return performance.now() - start
}

function runBare(python: string, script: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(python, [script], { stdio: 'ignore' })
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${script} ended with ${code} outside the sandbox.`)),
    )
  })
}

function perSecond(count: number, samples: Samples): number {
  return Number(((1000 * count) / samples.median).toPrecision(4))
}
