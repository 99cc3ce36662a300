// Runs an endless program in Pyodide and prints the numbers of this process's children: to be killed while it runs.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { PyodidePrograms } from '../../src/sandbox/program-sandbox.ts'

const programs = new PyodidePrograms()
await programs.run('pass', '')
// The next process is loading by now; give it time, so that the loop has begun when we are killed.
await wait(5000)
const running = programs.run('while True: pass', '')
await wait(1000)
console.log(JSON.stringify(readdirSync('/proc').filter(isChild).map(Number)))
await running

function isChild(name: string): boolean {
  try {
    const [, parent] = /^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? []
    return Number(parent) === process.pid
  } catch {
    return false
  }
}
