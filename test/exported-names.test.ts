import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const source = fileURLToPath(new URL('../src', import.meta.url))

// AssemblyScript exports become instructions of the kernel module, named like their plain twins.
const files = globSync('**/*.ts', {
  cwd: source,
  exclude: (path) => /\.test\.ts$|^index\.ts$|^numerics\/kernels\/assembly$/.test(String(path)),
})

test('no exported name exists twice', () => {
  const homes = new Map<string, string[]>()
  for (const file of files)
    for (const name of exportedNames(readFileSync(`${source}/${file}`, 'utf8')))
      homes.set(name, [...(homes.get(name) ?? []), file])
  const twice = [...homes].filter(([, places]) => places.length > 1)
  expect(Object.fromEntries(twice)).toEqual({})
  expect(homes.size).toBeGreaterThan(1000)
})

function exportedNames(code: string): Set<string> {
  const declared =
    /^export (?:declare |abstract |async )*(?:class|function\*?|const|let|type|interface) ([\w$]+)/gm
  const lists = /^export (?:type |const )?\{([^}]*)\}/gm
  const listed = [...code.matchAll(lists)].flatMap(([, list]) =>
    list!.split(',').map((entry) => entry.replace(/^.* as |^\s*type /, '').trim()),
  )
  return new Set([...[...code.matchAll(declared)].map(([, name]) => name!), ...listed.filter(Boolean)])
}
