import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('a thousand graphs at once keep to a small heap and to the call limit', async () => {
  const script = fileURLToPath(new URL('../faults/thousand-graphs.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=256', script])
  expect(stdout.trim()).toBe('1000 8')
})
