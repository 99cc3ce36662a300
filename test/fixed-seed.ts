import fc from 'fast-check'

// Properties use the same examples in every run, so a failure is reproducible. For other examples:
// MAGIC_TEST_SEED=7 npx vitest run src
fc.configureGlobal({ seed: Number(process.env['MAGIC_TEST_SEED'] ?? 1) })
