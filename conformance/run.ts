// npm run conformance -- <kind> <folder>: golden vectors of one kind, from any folder with that kind's schema.
import { existsSync, statSync } from 'node:fs'
import { type Kind, kinds, runKind } from './kinds.ts'

const [kind, folder, ...rest] = process.argv.slice(2)

function usage(problem: string): never {
  console.error(`${problem}\nusage: npm run conformance -- <${Object.keys(kinds).join('|')}> <folder>`)
  process.exit(2)
}

if (kind === '--help' || kind === '-h') usage('Runs golden vectors and prints a line per failing case.')
if (kind === undefined || folder === undefined || rest.length > 0) usage('A kind and a folder are needed.')
if (!Object.hasOwn(kinds, kind)) usage(`There is no kind '${kind}'.`)
if (!existsSync(folder) || !statSync(folder).isDirectory()) usage(`${folder} is not a folder.`)

let passed = 0
let failed = 0
for await (const { name, failure } of runKind(kind as Kind, folder)) {
  if (failure === undefined) passed += 1
  else {
    failed += 1
    console.log(`FAIL ${name}: ${failure}`)
  }
}
// A folder without cases proves nothing, so it is not a success.
if (passed + failed === 0) console.log(`FAIL ${folder}: no ${kind} cases found`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
