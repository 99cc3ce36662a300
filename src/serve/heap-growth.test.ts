import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

// Its effect shows only under a server's load: see `bench/serve.ts`.
test('V8 knows the flag, about which it would otherwise complain on standard error', () => {
  const file = JSON.stringify(new URL('./heap-growth.ts', import.meta.url).href)
  const program = `import { collectRarely } from ${file}; collectRarely(); console.log('set')`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
  expect([stdout, stderr]).toEqual(['set\n', ''])
})
