import { existsSync } from 'node:fs'
import { lexicalEncoder } from '../encoder/lexical-encoder.ts'
import type { FrozenTextEncoder } from '../encoder/text-encoder.ts'
import { listRuns } from '../evaluation/run-overview.ts'
import { isArchivedExport, unpackExport } from '../store/exported-run.ts'
import { defaultRunsFolder, findRun, RunError, type RunFolder, type RunRecord } from '../store/run-folder.ts'
import { type EncoderSource, openEncoder } from './job.ts'

/** Finds a run by name or path. The error lists the runs that exist. */
export function existingRun(name: string, runsDir: string | undefined): RunFolder {
  const runs = runsDir ?? defaultRunsFolder()
  const folder = findRun(name, runs)
  if (folder.exists) return folder
  const others = listRuns(runs).map((run) => run.name)
  const known =
    others.length === 0
      ? `${runs} has no runs yet; \`magic train\` makes one.`
      : `Runs in ${runs}: ${others.slice(0, 10).join(', ')}${others.length > 10 ? ' and more' : ''}.`
  throw new RunError(`There is no run ${name.includes('/') ? folder.path : `'${name}'`}. ${known}`)
}

/** Finds a run whose policy is only used, not trained: exports work, too. */
export async function usableRun(name: string, runsDir: string | undefined): Promise<RunFolder> {
  return isArchivedExport(name) ? unpackExport(name) : existingRun(name, runsDir)
}

/** Appends a number to the name if such a folder exists, so that earlier runs are kept. */
export function freeFolder(wanted: string): string {
  let folder = wanted
  for (let number = 2; existsSync(folder); number += 1) folder = `${wanted}-${number}`
  return folder
}

/** The text encoder that a run was trained with, from the same folder. */
export async function encoderOfRun(
  { encoder, source }: RunRecord,
  say: (text: string) => void,
): Promise<FrozenTextEncoder> {
  if (encoder.name === lexicalEncoder.name) return lexicalEncoder
  const from = source?.['encoder'] as EncoderSource | undefined
  return openEncoder(typeof from === 'object' ? from : 'minilm', say)
}
