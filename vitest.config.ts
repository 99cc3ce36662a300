import { defineConfig } from 'vitest/config'
import './test/environment.ts'

export default defineConfig({
  test: {
    maxWorkers: 3,
    // Only against what hangs: a loaded machine takes minutes for what takes seconds elsewhere, and must not fail for it.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    reporters: ['default', './test/plain-summary.ts'],
    setupFiles: ['./test/fixed-seed.ts'],
    unstubEnvs: true,
    restoreMocks: true,
    projects: [
      {
        extends: true,
        test: {
          name: 'units',
          include: ['src/**/*.test.ts', 'conformance/**/*.test.ts'],
          exclude: ['src/sandbox/*.test.ts'],
          // Files share a process: loading the modules anew for each took a third of the time.
          isolate: false,
        },
      },
      // These count the processes below their own, so each file has one for itself.
      { extends: true, test: { name: 'sandbox', include: ['src/sandbox/*.test.ts'] } },
      { extends: true, test: { name: 'flows', include: ['test/**/*.test.ts', 'bench/**/*.test.ts'] } },
    ],
  },
})
