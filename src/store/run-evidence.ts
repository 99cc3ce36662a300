import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { z } from 'zod'
import type { JsonObject } from '../library/json-value.ts'
import { changesBetween } from './differing-settings.ts'
import { digestOf, type FileDigest, fileDigestSchema, readLines } from './durable-file.ts'
import { changedEvaluations } from './evaluation-digests.ts'
import { RunError, type RunFolder } from './run-folder.ts'
import { hasLedger } from './run-ledger.ts'

/** What a checkpoint's weights rest on: the settings, and digests of the run's files at that time. */
const evidenceSchema = z.object({
  settings: z.record(z.string(), z.json()),
  files: z.record(z.string(), fileDigestSchema),
})

/**
 * Returns a function for a checkpoint's evidence. Files that are written once are digested now, so that later changes
 * show.
 */
export function evidenceOf(
  folder: RunFolder,
  growing: readonly { readonly path: string; readonly digest: FileDigest }[],
): () => JsonObject {
  const settings = folder.readSettings()
  const { membershipFile, libraryFile, earlierLooksFile } = folder
  const earlier = existsSync(earlierLooksFile) ? [earlierLooksFile] : []
  const fixed = [membershipFile, libraryFile, ...earlier].map((path) => ({
    path,
    digest: digestOf(readFileSync(path)),
  }))
  return () => {
    const files = [...fixed, ...growing].map(({ path, digest }) => [basename(path), { ...digest }] as const)
    return { settings, files: Object.fromEntries(files) }
  }
}

/** What changed after a checkpoint was written, as sentences. Undefined for checkpoints of earlier versions. */
export function changedSince(folder: RunFolder, update: number): string[] | undefined {
  const { restsOn, seed } = folder.readCheckpointState(update)
  if (restsOn === undefined) {
    const now = folder.readRecord().training.seed
    return now === seed ? undefined : [`run.json: training.seed was ${seed} and is ${now}`]
  }
  const { settings, files } = evidenceSchema.parse(restsOn)
  const mayHaveGrown = [folder.eventsFile, folder.trajectoriesFile, folder.callsFile]
  const { membershipFile, libraryFile, earlierLooksFile } = folder
  const paths = [membershipFile, libraryFile, earlierLooksFile, ...mayHaveGrown]
  const earlier = basename(earlierLooksFile)
  return [
    ...changesBetween(settings, folder.readSettings()).map((line) => `run.json: ${line}`),
    ...paths.flatMap((path) => fileChange(path, files[basename(path)], mayHaveGrown.includes(path))),
    ...(existsSync(earlierLooksFile) && files[earlier] === undefined ? [`${earlier} was not there`] : []),
    ...(update > 0 && !hasLedger(folder) ? ['ledger.sqlite is missing'] : []),
  ]
}

/** Throws if the files behind a checkpoint, or an evaluation of the run, have changed. */
export function assertUnchanged(folder: RunFolder, update: number): void {
  const changes = [...(changedSince(folder, update) ?? []), ...changedEvaluations(folder)]
  if (changes.length === 0) return
  const fits = folder
    .checkpoints()
    .findLast((other) => other < update && changedSince(folder, other)?.length === 0)
  const earlier =
    fits === undefined
      ? `Without a copy, delete ${folder.path}/checkpoints: a resume then repeats every update, and only makes calls whose replies are not in the ledger.`
      : `Or resume with --from-update ${fits}, which matches all files.`
  throw new RunError(
    `The run ${folder.path} cannot be resumed, because files have changed since update ${update}:\n${changes.map((line) => `  ${line}`).join('\n')}\nRestore them. ${earlier} Nothing was modified.`,
  )
}

/** Event lines beyond what checkpoints cover: a kill may leave one extra update, but not more. */
export function surplusEvents(folder: RunFolder, updates: number): number {
  if (!existsSync(folder.eventsFile)) return 0
  const newest = folder.checkpoints().at(-1) ?? 0
  const allowed = newest >= updates ? newest : newest + 1
  return Math.max(0, readLines(folder.eventsFile).length - allowed)
}

function fileChange(path: string, then: FileDigest | undefined, mayHaveGrown: boolean): string[] {
  if (then === undefined) return []
  const name = basename(path)
  if (!existsSync(path)) return then.bytes === 0 ? [] : [`${name} is missing`]
  const content = readFileSync(path)
  if (content.length < then.bytes)
    return [`${name} is shorter than it was: ${content.length} bytes instead of ${then.bytes}`]
  const same = digestOf(content.subarray(0, then.bytes)).sha256 === then.sha256
  return same && (mayHaveGrown || content.length === then.bytes)
    ? []
    : [`${name} has changed: its digest does not match`]
}
