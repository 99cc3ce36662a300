import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// The order in which data flows through the system: a folder imports only from itself and earlier ones.
const order = [
  'numerics',
  'python',
  'library',
  'graph',
  'policy',
  'models',
  'sandbox',
  'settings',
  'execution',
  'store',
  'encoder',
  'tasks',
  'simulator',
  'learning',
  'training',
  'workers',
  'organisations',
  'evaluation',
  'configuration',
  'experiments',
  'serve',
  'view',
  'cli',
]

const source = fileURLToPath(new URL('../src', import.meta.url))

test('folders import only from earlier folders', () => {
  const wrong: string[] = []
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.test.ts')) continue
    const path = join(entry.parentPath, entry.name)
    const from = relative(source, path).split('/')
    if (from.length === 1) continue
    expect(order, `src/${from[0]} has no place in the order`).toContain(from[0])
    for (const [, target] of readFileSync(path, 'utf8').matchAll(/from '(\.[^']+)'/g)) {
      const to = relative(source, join(entry.parentPath, target!)).split('/')[0]!
      if (order.indexOf(to) > order.indexOf(from[0]!)) wrong.push(`${from.join('/')} imports from ${to}`)
    }
  }
  expect(wrong).toEqual([])
})
