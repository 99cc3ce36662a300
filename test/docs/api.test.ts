import { expect, test } from 'vitest'
import { apiPage, makeApiPage } from '../../scripts/api-docs.ts'
import * as library from '../../src/index.ts'

test(
  'docs/api.md tells the public names as the sources declare them',
  () => {
    expect(apiPage(), 'run `npm run docs:api`').toBe(makeApiPage())
    for (const name of Object.keys(library)) expect(apiPage()).toContain(`\n### ${name}\n`)
  },
  30 * 60_000,
)
