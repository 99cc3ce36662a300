// node lock-holder.ts sqlite FILE | run FOLDER: takes the lock, says so, and holds it until it ends or gets
// input.
import { writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { RunLock } from '../../src/store/run-lock.ts'

const [kind, path] = process.argv.slice(2)
const database = kind === 'sqlite' ? new DatabaseSync(path!) : undefined
if (database === undefined) await RunLock.acquire(path!)
else database.exec('BEGIN IMMEDIATE')
writeSync(1, 'held\n')
process.stdin.once('data', () => {
  database?.close()
  process.exit(0)
})
