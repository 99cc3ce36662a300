import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { magic } from './magic.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('the graph that the README opens with is what its command prints', async () => {
  const [, seed, question] = /\$ magic graph --seed (\d+) "([^"]+)"/.exec(readme)!
  const { stdout } = await magic('graph', '--seed', seed!, question!)
  const shown = readme.slice(readme.indexOf(`"${question}"`) + question!.length + 3)
  const picture = shown.slice(0, shown.indexOf('```'))
  const printed = stdout.slice(0, stdout.indexOf('Mermaid'))
  const lines = (text: string) =>
    text
      .split('\n')
      .map((line) => line.trimEnd())
      .filter((line) => line !== '')
  expect(lines(printed)).toEqual(lines(picture))
})
