import { existsSync } from 'node:fs'
import { verify } from '../../src/evaluation/verification/verify.ts'
import { evaluationDigest } from '../../src/store/ledger/evaluation.ts'
import { SqliteLedger } from '../../src/store/ledger/sqlite.ts'
import { RunFolder } from '../../src/store/run-folder.ts'
import { tinyTaskSet } from '../tiny-task-set.ts'
import { type Facts, parseFacts } from './facts.ts'
import { outcome, type TrainRunSettings, trainSmall } from './small-training.ts'

export interface AfterCrash {
  /** Calls without an acknowledged answer when the process ended, as reported by the resumed run. */
  readonly inFlight: number
  /** Calls that were made again, except the self-check's, which a run that has not begun yet repeats. */
  readonly repeated: number
}

/**
 * Checks the promises about a run that ended in any way: no acknowledged data is lost and nothing
 * half-written is visible; resumed, it repeats no answered call and ends like an undisturbed run. Throws
 * otherwise.
 */
export async function assertRecovers(
  folder: string,
  facts: Facts,
  reference: ReadonlyMap<string, string>,
  url: string,
  settings: TrainRunSettings = {},
): Promise<AfterCrash> {
  await assertNothingLost(folder, facts)
  const lines: string[] = []
  const { status, done } = await trainSmall(folder, url, { ...settings, tell: (line) => lines.push(line) })
  if (status !== 'finished') throw new Error(`resumed, the run is ${status} after ${done} updates`)
  const { asked, inFlight } = parseFacts(`${lines.join('\n')}\n`)
  const again = asked.filter((digest) => facts.kept.has(digest))
  if (again.length > 0)
    throw new Error(`${again.length} calls were made again although their answers were kept`)
  for (const [file, content] of outcome(folder))
    if (content !== reference.get(file)) throw new Error(`${file} is another one than without the crash`)
  for await (const { name, ok, detail } of verify({ folder: new RunFolder(folder), set: tinyTaskSet }))
    if (!ok) throw new Error(`afterwards '${name}' is wrong: ${detail}`)
  const [echo, ...before] = facts.asked
  const unanswered = new Set(before.filter((digest) => digest !== echo && !facts.failed.has(digest)))
  const repeated = asked.filter((digest) => unanswered.has(digest)).length
  if (repeated > inFlight)
    throw new Error(`${repeated} calls were repeated, but ${inFlight} told to be in flight`)
  return { inFlight, repeated }
}

async function assertNothingLost(folder: string, { kept, evaluated, updates }: Facts): Promise<void> {
  const run = new RunFolder(folder)
  if (run.exists) run.readRecord()
  for (const update of run.checkpoints()) run.readCheckpoint({}, update)
  const newest = run.checkpoints().at(-1) ?? 0
  if (newest < updates)
    throw new Error(`update ${updates} was acknowledged, the last checkpoint is ${newest}`)
  if (kept.size === 0 && evaluated.size === 0) return
  if (!existsSync(run.ledgerFile)) throw new Error('the ledger is gone')
  const ledger = await SqliteLedger.open(run.ledgerFile, { readOnly: true })
  try {
    for (const digest of kept)
      if ((await ledger.findReply(digest)) === undefined) throw new Error(`the answer to ${digest} is lost`)
    const found = new Set<string>()
    for await (const { key } of ledger.entries()) found.add(evaluationDigest(key))
    for (const digest of evaluated)
      if (!found.has(digest)) throw new Error(`the evaluation ${digest} is lost`)
  } finally {
    await ledger.close()
  }
}
