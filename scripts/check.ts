// npm run check: types, format and unused code, all at once. Prints the output of each tool that fails.
import { execFile } from 'node:child_process'

const tools = [['tsc'], ['tsc', '-p', 'view'], ['biome', 'check', '.'], ['knip']] as const

async function passes([file, ...words]: readonly [string, ...string[]]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  execFile(file, words, { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
    const isFine = error === null
    console.log(`${isFine ? 'passed' : 'FAILED'}  ${[file, ...words].join(' ')}`)
    if (!isFine) console.log(stdout, stderr, stdout || stderr ? '' : error.message)
    resolve(isFine)
  })
  return promise
}

const results = await Promise.all(tools.map(passes))
process.exitCode = results.every(Boolean) ? 0 : 1
