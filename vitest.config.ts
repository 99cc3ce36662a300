import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'conformance/**/*.test.ts', 'bench/**/*.test.ts'],
    // Two cores: more workers only fight each other, and timings inside tests of limits become noise.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ['default', './test/plain-summary.ts'],
  },
})
