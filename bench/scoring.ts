// Loading and scoring: our TAT-QA scorer against the same rules in plain Python, sandboxed HumanEval verdicts against
// bare interpreters, and how many examples per second each benchmark's files load.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { findSandboxHost } from '../src/sandbox/host.ts'
import { loadSplit } from '../src/tasks/benchmarks/benchmark.ts'
import { benchmarkNames, benchmarks } from '../src/tasks/benchmarks/list.ts'
import { describeBenchmark } from '../src/tasks/data/catalogue.ts'
import { atLeast, type Bench, Samples } from './bench.ts'
import { measureHumaneval } from './scoring/humaneval.ts'
import { measureTatqaScorer } from './scoring/tatqa.ts'

export const scoringBench: Bench = async ({ quick, say }) => {
  const data = sharedFile('data')
  const goldens = sharedFile('conformance/scoring/tatqa.jsonl')
  const humaneval = sharedFile('data/humaneval/HumanEval.jsonl.gz')
  // The sandboxes' interpreter, not a version manager's wrapper.
  const { interpreter } = await findSandboxHost()
  stayOnTwoCores()
  say('TAT-QA …')
  const tatqa = measureTatqaScorer(goldens, interpreter.executable, quick ? 1 : 7)
  const code = await measureHumaneval(humaneval, interpreter.executable, quick ? 1 : 7, say)
  say('loading …')
  return {
    figures: {
      tatqa_speedup_vs_python: tatqa.speedup,
      humaneval_rate_vs_bare_python: code.rate,
    },
    goals: {
      tatqa_speedup_vs_python: atLeast(10),
      humaneval_rate_vs_bare_python: atLeast(1),
    },
    tatqa: tatqa.details,
    humaneval: code.details,
    examplesLoadedPerSecond: await measureLoading(data, quick ? 1 : 5),
    machine: {
      cpu: cpus()[0]?.model,
      cores: availableParallelism(),
      node: process.version,
      python: interpreter.executable,
    },
  }
}

function sharedFile(path: string): string {
  const file = fileURLToPath(new URL(`../../shared/${path}`, import.meta.url))
  if (!existsSync(file))
    throw new Error(
      `The bench needs ${file}: golden values and official data, in a folder beside the checkout.`,
    )
  return file
}

const taskset = '/usr/bin/taskset'

/** Pins both sides to the same two cores; children inherit that. */
function stayOnTwoCores(): void {
  if (availableParallelism() <= 2 || !existsSync(taskset)) return
  const who = ['--pid', '0,1', String(process.pid)]
  execFileSync(taskset, ['--all-tasks', '--cpu-list', ...who], { stdio: 'ignore' })
}

/** Reads, checks and converts the files of every available split. */
async function measureLoading(root: string, rounds: number): Promise<Record<string, number>> {
  const rates: Record<string, number> = {}
  for (const name of benchmarkNames) {
    for (const { split, imported, examples } of describeBenchmark(root, benchmarks[name]).splits) {
      if (!imported) continue
      const times = new Samples()
      for (let round = 0; round < rounds; round += 1) {
        const start = performance.now()
        await loadSplit(root, benchmarks[name], split)
        times.add(performance.now() - start)
      }
      rates[`${name} ${split}`] = Math.round((1000 * examples) / times.median)
    }
  }
  return rates
}
