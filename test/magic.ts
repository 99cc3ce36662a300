import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('../bin/magic.js', import.meta.url))

/** Runs the command as a user would, in a process of its own. */
export function magic(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, NO_COLOR: '1' }, maxBuffer: 1 << 26 }
    execFile(process.execPath, [script, ...words], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ code, stdout, stderr })
    })
  })
}
