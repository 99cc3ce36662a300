import fc from 'fast-check'

// Properties are tried on the same examples in every run: one that fails, fails for everybody and again. Other examples:
// MAGIC_TEST_SEED=7 npx vitest run src
fc.configureGlobal({ seed: Number(process.env['MAGIC_TEST_SEED'] ?? 1) })
