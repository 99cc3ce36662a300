import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'conformance/**/*.test.ts', 'bench/**/*.test.ts'],
    // Two cores: more workers only fight each other, and timings inside tests of limits become noise.
    maxWorkers: 2,
    // Only against what hangs: a loaded machine takes minutes for what takes seconds elsewhere, and must not fail for it.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    reporters: ['default', './test/plain-summary.ts'],
  },
})
