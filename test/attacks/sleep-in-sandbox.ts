// Starts a program that sleeps, says so, and waits for its end: to be killed while it runs.
import { findSandboxHost } from '../../src/sandbox/host.ts'
import { paperLimits } from '../../src/sandbox/limits.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'

const sandbox = await Sandbox.start(await findSandboxHost(), { writableTmp: false })
const limits = { ...paperLimits, wallSeconds: 600 }
const running = sandbox.run({ mode: 'script', source: 'import time\ntime.sleep(600)', stdin: '' }, limits)
console.log('started')
await running.next()
