import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // Two cores: more workers only fight each other, and timings inside tests of limits become noise.
    maxWorkers: 2,
    // Only against what hangs: a loaded machine takes minutes for what takes seconds elsewhere, and must not fail for it.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    reporters: ['default', './test/plain-summary.ts'],
    unstubEnvs: true,
    restoreMocks: true,
    projects: [
      {
        extends: true,
        test: {
          name: 'units',
          include: ['src/**/*.test.ts', 'conformance/**/*.test.ts'],
          // Files share a process: to load the modules anew for each took a third of the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'flows', include: ['test/**/*.test.ts', 'bench/**/*.test.ts'] } },
    ],
  },
})
