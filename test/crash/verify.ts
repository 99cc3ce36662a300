// node verify.ts FOLDER URL REFERENCE: called by crash_matrix.py after a training in FOLDER was cut short.
// What it had reported is in FOLDER.acks; REFERENCE is the folder of an undisturbed run.
import { readFileSync } from 'node:fs'
import { assertRecovers } from './after-crash.ts'
import { parseFacts } from './facts.ts'
import { outcome } from './small-training.ts'

const [folder, url, reference] = process.argv.slice(2)
const facts = parseFacts(readFileSync(`${folder}.acks`, 'utf8'))
try {
  console.log(JSON.stringify(await assertRecovers(folder!, facts, outcome(reference!), url!)))
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
