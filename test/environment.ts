import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Gives tests the same environment everywhere: variables of the user or machine, such as NODE_OPTIONS,
// FORCE_COLOR, PGHOST, API keys or npm's own, would change what commands print, where they connect and what
// they cost.
const kept = /^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|CI|CHROMIUM_PATH|MAGIC_TEST_\w+|VITEST\w*)$/

for (const name of Object.keys(process.env)) if (!kept.test(name)) delete process.env[name]
process.env['LANG'] = 'C.UTF-8'
// Many tests start processes, which then load the sources in half the time.
process.env['NODE_COMPILE_CACHE'] = join(tmpdir(), 'node-compile-cache')
