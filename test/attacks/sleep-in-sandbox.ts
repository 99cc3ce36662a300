// Starts a sleeping program, says so, and waits for its end; meant to be killed meanwhile.
import { findSandboxHost } from '../../src/sandbox/host.ts'
import { paperLimits } from '../../src/sandbox/limits.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'
import { announcesStart } from './processes.ts'

const sandbox = await Sandbox.start(await findSandboxHost(), false)
const limits = { ...paperLimits, wallSeconds: 600 }
const source = `${announcesStart}\nimport time\ntime.sleep(600)`
const running = sandbox.run({ mode: 'script', source, stdin: '' }, limits)
await running.message()
console.log('started')
await running.ended
