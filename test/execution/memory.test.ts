import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('a thousand concurrent graphs stay within a small heap and the call limit', async () => {
  const script = fileURLToPath(new URL('../faults/thousand-graphs.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=256', script])
  expect(stdout.trim()).toBe('1000 8')
})
