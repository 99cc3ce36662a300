import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { builtPages } from '../../src/view/front-end.ts'

test('the first load has less than 300 kB of compressed script, and fetches nothing from elsewhere', async () => {
  const pages = await builtPages()
  const index = readFileSync(join(pages, 'index.html'), 'utf8')
  const first = [...index.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map(([, path]) => path!)
  expect(first.length).toBeGreaterThan(0)
  const bytes = first.reduce((sum, path) => sum + gzipSync(readFileSync(join(pages, path))).length, 0)
  expect(bytes).toBeLessThan(300_000)
  // Inline scripts and styles would need exceptions in the policy.
  expect(index).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=/)
  expect(index).not.toMatch(/https?:\/\//)
  for (const name of readdirSync(join(pages, 'assets')).filter((file) => file.endsWith('.css')))
    expect(readFileSync(join(pages, 'assets', name), 'utf8'), name).not.toMatch(
      /url\(\s*['"]?https?:|@import/,
    )
})
