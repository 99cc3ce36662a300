// HumanEval's check(candidate), with the program and the tests in two sandboxes and only plain data between them.
import { z } from 'zod'
import { decodePlain } from '../../../python/plain-value.ts'
import type { CaseEvent, RunningCase } from '../../../sandbox/case.ts'
import { type Limits, paperLimits } from '../../../sandbox/limits.ts'
import type { SandboxJob } from '../../../sandbox/pool.ts'
import { type CodeStatus, statusOfEnd } from '../../../sandbox/program/code-status.ts'
import {
  BrokenTask,
  type ProgramMessage,
  readMessage,
  statusOfFailure,
} from '../../../sandbox/program/program-message.ts'
import type { HumanevalReference } from '../reference.ts'

// The time of the tests does not count against the program, but is limited: a program can make them work hard.
const judgeLimits: Limits = { ...paperLimits, cpuSeconds: 10, wallSeconds: 20 }

const judgeMessage = z.union([
  z.object({ call: z.unknown() }),
  z.object({ verdict: z.enum(['passed', 'failed_tests', 'runtime_error', 'memory_limit']) }),
])
const brokenMessage = z.object({ broken: z.string() })

export async function checkCandidate(
  job: SandboxJob,
  source: string,
  { prompt, entryPoint: entry, test }: HumanevalReference,
): Promise<CodeStatus> {
  const [programs, judges] = await Promise.all([job.open(), job.open({ serves: 'judges' })])
  const preamble = [prompt]
  const work = { mode: 'function', source, preamble, placeholder: entry, entry, method: false } as const
  const program = programs.run(work, paperLimits)
  // Loads its tests meanwhile; its first call waits until the program has loaded too.
  const judge = judges.run({ mode: 'judge', preamble, entry, test }, judgeLimits)
  try {
    // Only its first message can say that the task is broken: later ones may depend on data of the program.
    const opening = await judge.next()
    const broken = opening.kind === 'message' ? brokenMessage.safeParse(opening.message).data : undefined
    if (broken !== undefined) throw new BrokenTask(broken.broken)
    const loaded = readReply(await program.next())
    if (typeof loaded === 'string') return loaded
    if ('failed' in loaded) return statusOfFailure(loaded)
    const status = await carry(program, judge, opening)
    // What the program does after its last answer counts too: endless output, a thread that still runs.
    const ending = statusOfEnd(await program.stop())
    return status === 'passed' ? (ending ?? 'passed') : status
  } finally {
    await Promise.all([program.stop(), judge.stop()])
  }
}

/** Carries calls from the tests to the program and plain data back, until one of them has come to its end. */
async function carry(program: RunningCase, judge: RunningCase, opening: CaseEvent): Promise<CodeStatus> {
  for (let event = opening; ; event = await judge.next()) {
    if (event.kind === 'end') return statusOfEnd(event.report) ?? 'runtime_error'
    const message = judgeMessage.safeParse(event.message).data
    if (message === undefined) return 'runtime_error'
    if ('verdict' in message) return message.verdict
    program.send({ call: message.call })
    const reply = readReply(await program.next())
    if (typeof reply === 'string') return reply
    if (!('value' in reply || 'failed' in reply)) return 'runtime_error'
    judge.send(reply)
  }
}

/** A reply that the tests may see, or the status when there will be none. */
function readReply(event: CaseEvent): ProgramMessage | CodeStatus {
  // The end of the process, whatever its exit status, comes before the tests are through.
  if (event.kind === 'end') return statusOfEnd(event.report) ?? 'runtime_error'
  const message = readMessage(event.message)
  if (message === undefined) return 'runtime_error'
  if ('failed' in message && message.failed !== 'exception') return statusOfFailure(message)
  if ('value' in message && decodePlain(message.value) === undefined) return 'runtime_error'
  return message
}
