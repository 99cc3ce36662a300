import { z } from 'zod'
import type { CaseReport } from '../../sandbox/case.ts'
import { type Tool, toolError } from './tool.ts'

/** Characters of the longest program that is run. */
export const longestProgram = 200_000

const payload = z.object({
  source: z.string().min(1).max(longestProgram),
  stdin: z.string().max(1_000_000).default(''),
})

const endings: Partial<Record<CaseReport['end'], string>> = {
  exit: 'exited',
  cpu: 'stopped: limit of processor time',
  wall: 'stopped: limit of time',
  late: 'stopped: limit of time',
  output: 'stopped: limit of output',
}

/** How a program ended, for a model to read. */
export function programEnding({ end, code }: Pick<CaseReport, 'end' | 'code'>): string {
  return end === 'signal' ? `killed by signal ${code}` : (endings[end] ?? 'stopped')
}

export const pythonExec: Tool<z.infer<typeof payload>> = {
  name: 'python_exec',
  description:
    'python_exec runs a complete Python program and returns its output and exit status: {"source": "print(2 ** 10)"}. ' +
    'Only what is printed comes back. It has the standard library, 2 s of processor time, 256 MiB of memory and 64 KiB ' +
    'of output, but no network, no files of the host and no other processes.',
  payload,
  async run({ source, stdin }, { sandbox }, signal) {
    if (sandbox === undefined) return toolError('unavailable', 'There is no sandbox to run programs in.')
    const { end, code, stdout, stderr } = await sandbox.run(source, stdin, signal)
    const ended = programEnding({ end, code })
    // Like a shell: 128 plus the signal's number.
    const exitStatus = end === 'exit' ? code : end === 'signal' ? 128 + code : null
    return { status: 'ok', result: { ended, exit_status: exitStatus, stdout, stderr } }
  },
}
