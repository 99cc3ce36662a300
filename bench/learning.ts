// The benefit of training: value learning compared with the paper's method, a fixed graph found by search, and no training, all
// with the same number of paid evaluations, on the demo's questions and the simulated model.
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { meanOf } from '../src/evaluation/statistics.ts'
import { demoSizes } from '../src/experiments/demo.ts'
import { LineFile, readLines } from '../src/store/durable-file.ts'
import { atLeast, atMost, type Bench } from './bench.ts'
import type { SeedJob, SeedResult } from './learning/examine-seed.ts'
import { learningFigures } from './learning/figures.ts'

const usualSeeds = Array.from({ length: 10 }, (_, index) => 200 + index)

/** Limit for every training, on training questions. */
const paidEvaluations = 8000

export const learningBench: Bench = async ({ quick, say, seeds = quick ? [0] : usualSeeds }) => {
  const size = quick
    ? { sizes: { train: 12, test: 40 }, evaluations: 400, conditionalUpdates: 20 }
    : { sizes: demoSizes, evaluations: paidEvaluations, conditionalUpdates: 200 }
  const jobs = seeds.map((seed, index) => ({
    seed,
    ...size,
    conditionalUpdates: index < 3 ? size.conditionalUpdates : undefined,
  }))
  const kept = keptResults({ ...size, code: codeDigest() })
  const start = performance.now()
  const waiting = jobs.values()
  const work = async () => {
    for (const job of waiting) await examine(job, kept, say)
  }
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work))
  await kept.file.close()
  const { figures, ...details } = learningFigures(kept.results.filter(({ seed }) => seeds.includes(seed)))
  return {
    figures,
    goals: {
      gain_vs_searched: atLeast(2),
      gain_vs_paper: atLeast(5),
      gain_vs_untrained: atLeast(0),
      tokens_vs_searched: atMost(1),
      shuffled_drop: atLeast(2),
      tokens_at_searched_score: atMost(0.8),
      evaluations_to_match_paper: atMost(0.2),
      conditional_right_roles_200: atLeast(0.95),
    },
    ...details,
    evaluations: size.evaluations,
    minutes: (performance.now() - start) / 60_000,
    machine: { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version },
  }
}

interface Kept {
  readonly results: SeedResult[]
  readonly file: LineFile
}

/** Results of an interrupted bench, if the code has not changed since; otherwise it starts over. */
function keptResults(what: object): Kept {
  const folder = join('runs', 'bench-learning')
  mkdirSync(folder, { recursive: true })
  const name = createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16)
  const path = join(folder, `${name}.jsonl`)
  const results = existsSync(path) ? (readLines(path) as SeedResult[]) : []
  return { results, file: new LineFile(path) }
}

function codeDigest(): string {
  const digest = createHash('sha256')
  for (const path of globSync(['src/**/*.{ts,yaml,wasm}', 'bench/learning/**/*.ts']).sort())
    if (!path.endsWith('.test.ts')) digest.update(path).update(readFileSync(path))
  return digest.digest('hex')
}

async function examine(job: SeedJob, { results, file }: Kept, say: (line: string) => void): Promise<void> {
  const known = results.filter(({ seed }) => seed === job.seed).map(({ part }) => part)
  const worker = new Worker(new URL('./learning/seed-worker.ts', import.meta.url), {
    workerData: { job, known },
  })
  const ended = Promise.withResolvers<void>()
  worker.on('message', (result: SeedResult) => {
    results.push(result)
    file.append(result)
    const { seed, part, scores, tokens, spent, seconds } = result
    const score = (100 * meanOf(scores)).toFixed(1)
    say(
      `seed ${seed}  ${part}: ${score} %, ${Math.round(tokens)} tokens, ${spent} paid, ${seconds.toFixed(0)} s`,
    )
  })
  worker.on('error', ended.reject)
  worker.on('exit', () => ended.resolve())
  await ended.promise
}
