import { z } from 'zod'
import type { CaseReport } from '../../sandbox/case.ts'
import { type Tool, toolError } from './tool.ts'

const payload = z.object({
  source: z.string().min(1).max(200_000),
  stdin: z.string().max(1_000_000).default(''),
})

export const pythonExec: Tool<z.infer<typeof payload>> = {
  name: 'python_exec',
  description:
    'python_exec runs a complete Python program and returns its output and exit status: {"source": "print(2 ** 10)"}. ' +
    'Only what is printed comes back. It has the standard library, 2 s of processor time, 256 MiB of memory and 64 KiB ' +
    'of output, but no network, no files of the host and no other processes.',
  payload,
  async run({ source, stdin }, { sandbox }, signal) {
    if (sandbox === undefined) return toolError('unavailable', 'There is no sandbox to run programs in.')
    const report = await sandbox.run(source, stdin, signal)
    return {
      status: 'ok',
      result: {
        ended: ending(report),
        exit_status: exitStatus(report),
        stdout: report.stdout,
        stderr: report.stderr,
      },
    }
  },
}

function ending({ end, code }: CaseReport): string {
  switch (end) {
    case 'exit':
      return 'exited'
    case 'signal':
      return `killed by signal ${code}`
    case 'cpu':
      return 'stopped: limit of processor time'
    case 'wall':
    case 'late':
      return 'stopped: limit of time'
    case 'output':
      return 'stopped: limit of output'
    default:
      return 'stopped'
  }
}

/** As a shell has it: a signal counts from 128 on. */
function exitStatus({ end, code }: CaseReport): number | null {
  if (end === 'exit') return code
  return end === 'signal' ? 128 + code : null
}
