// npm run bench -- <name> [--json]: measurements, always as ratios to a peer or a bound in the same run.
import { parseArgs } from 'node:util'
import type { Bench } from './bench.ts'

const benches: Record<string, () => Promise<Bench>> = {
  policy: async () => (await import('./policy.ts')).policyBench,
  execution: async () => (await import('./execution.ts')).executionBench,
  scoring: async () => (await import('./scoring.ts')).scoringBench,
  ledger: async () => (await import('./ledger.ts')).ledgerBench,
  learning: async () => (await import('./learning.ts')).learningBench,
  training: async () => (await import('./training.ts')).trainingBench,
  serve: async () => (await import('./serve.ts')).serveBench,
  view: async () => (await import('./view.ts')).viewBench,
  scale: async () => (await import('./scale.ts')).scaleBench,
}

function usage(problem: string): never {
  console.error(
    `${problem}\nusage: npm run bench -- <${Object.keys(benches).join('|')}> [--json] [--quick] [--seeds a..b]`,
  )
  process.exit(2)
}

/** `100..109` means 100 to 109. */
function seedsOf(text: unknown): number[] | undefined {
  if (text === undefined) return undefined
  const [, first, last = first] = /^(\d+)(?:\.\.(\d+))?$/.exec(String(text)) ?? []
  if (first === undefined || Number(last) < Number(first)) usage(`Write --seeds as a..b, not '${text}'.`)
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index)
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: {
    json: { type: 'boolean' },
    quick: { type: 'boolean' },
    seeds: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
})
const [name] = positionals
if (values.help) usage('Measures, and compares with a peer or a bound.')
if (name === undefined || positionals.length !== 1) usage('Name one bench.')
if (!Object.hasOwn(benches, name)) usage(`There is no bench '${name}'.`)

const seeds = seedsOf(values.seeds)
const bench = await benches[name]()
const say = (line: string) => process.stderr.write(`${line}\n`)
const { figures, goals, ...rest } = await bench({
  quick: values.quick === true,
  seeds,
  say,
})
if (values.json) console.log(JSON.stringify({ bench: name, figures, goals, ...rest }, null, 2))
else {
  for (const [figure, value] of Object.entries(figures)) {
    const goal = goals[figure]
    const verdict =
      goal === undefined
        ? ''
        : `   goal ${goal.atLeast ? '≥' : '≤'} ${goal.value}: ${met(value, goal) ? 'met' : 'missed'}`
    console.log(`${figure.padEnd(34)} ${value.toPrecision(4).padStart(9)}${verdict}`)
  }
}

function met(value: number, goal: { value: number; atLeast: boolean }): boolean {
  return goal.atLeast ? value >= goal.value : value <= goal.value
}
