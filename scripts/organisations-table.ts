// npm run docs:organisations -- [--seeds 0..4] [--sets mmlu_pro,gsm8k] [--only names] [--questions 250] [--out folder]
//   [--data folder] [--done] [--write]
//
// Runs every system on the simulated model, in this process, on two task sets with several seeds. Each combination is a file in the
// folder. Repeat the command to continue after a stop, or start it several times to share the work. When everything is done, it
// prints the table; --write puts it into docs/organisations.md; --done runs nothing and uses the existing files.

import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { CellStore } from './organisations/cells.ts'
import { allSystems, type TaskSetName, taskSets } from './organisations/systems.ts'
import { type Row, tableOf } from './organisations/table-text.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '0..4' },
    sets: { type: 'string', default: taskSets.join(',') },
    only: { type: 'string' },
    questions: { type: 'string', default: '250' },
    out: { type: 'string', default: 'experiments/organisations' },
    data: { type: 'string', default: '../shared/data' },
    done: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})

const seeds = values.seeds.split(',').flatMap((part) => {
  const [first, last = first] = part.split('..').map(Number) as [number, number?]
  return Array.from({ length: last - first + 1 }, (_, place) => first + place)
})
const sets = values.sets.split(',').map((name) => {
  if (!taskSets.includes(name as TaskSetName)) throw new Error(`There is no task set ${name}.`)
  return name as TaskSetName
})
const wanted = values.only?.split(',')
const systems = allSystems.filter(({ name }) => wanted?.includes(name.split(/[ :]/)[0]!) ?? true)
const store = new CellStore({
  folder: resolve(values.out),
  data: resolve(values.data),
  questions: Number(values.questions),
})

// Seed by seed, so that early results can be compared.
if (!values.done)
  for (const seed of seeds)
    for (const system of systems) for (const tasks of sets) await store.make(system, tasks, seed)

const rows: Row[] = await Promise.all(
  systems.map(async (system) => ({
    ...system,
    cells: sets.map((tasks) => store.cellsOf(system, tasks, seeds)),
    trainingTokens: sets.map((tasks) => store.trainingTokensOf(system, tasks, seeds)),
    missingEdges: await Promise.all(sets.map((tasks) => store.leftOut(system, tasks))),
  })),
)
const missing = rows.flatMap(({ name, cells }) =>
  cells.flatMap((known, set) =>
    seeds.filter((seed) => !known.has(seed)).map((seed) => `${name} ${sets[set]} ${seed}`),
  ),
)
if (missing.length > 0 && !values.done)
  process.stderr.write(
    `Other processes are still working on ${missing.length}: ${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ', …' : ''}. Repeat the command when they are done.\n`,
  )
else {
  const table = tableOf(rows, { sets, seeds, questions: Number(values.questions), isPartial: values.done })
  if (values.write) writeTable(table)
  else process.stdout.write(table)
}

function writeTable(table: string): void {
  const path = new URL('../docs/organisations.md', import.meta.url)
  const [before, , after] = readFileSync(path, 'utf8').split(
    /(?<=<!-- table -->\n)|(?=<!-- end of table -->)/,
  )
  writeFileSync(path, `${before}${table}${after}`)
}
