// Starts an endless program in Pyodide and prints the number of its process: to be killed while it runs.
import { readdirSync, readFileSync } from 'node:fs'
import { PyodidePrograms } from '../../src/execution/sandbox/program-sandbox.ts'

const running = new PyodidePrograms().run('while True: pass', '')
setTimeout(() => {
  const child = readdirSync('/proc').find((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/stat`, 'utf8').includes(` ${process.pid} `)
    } catch {
      return false
    }
  })
  console.log(child)
}, 1000)
await running
