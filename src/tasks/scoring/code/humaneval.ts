// HumanEval's check(candidate), with program and tests in separate sandboxes that only exchange plain data.
import { z } from 'zod'
import { type Limits, paperLimits } from '../../../sandbox/limits.ts'
import type { SandboxJob } from '../../../sandbox/pool.ts'
import { type CodeStatus, statusOfEnd } from '../../../sandbox/program/code-status.ts'
import { BrokenTask, readMessage, statusOfFailure } from '../../../sandbox/program/program-message.ts'
import type { HumanevalReference } from '../reference.ts'

// The tests' own time does not count against the program. But a program can make them work hard, and its time passes
// for them too.
const judgeLimits: Limits = { ...paperLimits, cpuSeconds: 10, wallSeconds: 20 + paperLimits.wallSeconds }

const brokenMessage = z.object({ broken: z.string() })
const verdictMessage = z.object({
  verdict: z.enum(['passed', 'failed_tests', 'runtime_error', 'memory_limit', 'timeout']),
})

export async function checkCandidate(
  job: SandboxJob,
  source: string,
  { prompt, entryPoint: entry, test }: HumanevalReference,
): Promise<CodeStatus> {
  const programs = await job.open()
  const tests = await programs.forTests()
  const preamble = [prompt]
  const work = { mode: 'function', source, preamble, placeholder: entry, entry, method: false } as const
  const program = programs.run(work, paperLimits)
  // Loads the tests meanwhile; their first call waits until the program has loaded too.
  const { wallSeconds: answerSeconds } = paperLimits
  const judge = tests.run({ mode: 'judge', preamble, entry, test, answerSeconds }, judgeLimits)
  try {
    // Only now can the judge blame the task: later it has seen the program's data.
    const broken = brokenMessage.safeParse(await judge.message()).data
    if (broken !== undefined) throw new BrokenTask(broken.broken)
    const loaded = readMessage(await program.message())
    if (loaded !== undefined && 'failed' in loaded) return statusOfFailure(loaded)
    if (loaded === undefined || !('loaded' in loaded)) {
      const report = await program.stop()
      if (report.end === 'wall') programs.noteWait(report.cpuSeconds, answerSeconds)
      return statusOfEnd(report) ?? 'runtime_error'
    }
    const verdict = verdictMessage.safeParse(await judge.message()).data?.verdict
    // Without a verdict, the tests hit a limit of their own, or the program ended.
    if (verdict === undefined)
      return statusOfEnd(await judge.stop()) ?? statusOfEnd(await program.stop()) ?? 'runtime_error'
    // What the program did after its last answer counts too: endless output, a thread still running.
    const report = await program.stop()
    const ending = statusOfEnd(report)
    if (verdict === 'timeout') programs.noteWait(report.cpuSeconds, answerSeconds)
    return verdict === 'passed' ? (ending ?? 'passed') : verdict
  } finally {
    await Promise.all([program.stop(), judge.stop()])
  }
}
