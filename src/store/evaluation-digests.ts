import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { digestOf, type FileDigest, syncFolder, writeWhole } from './durable-file.ts'
import { RunError, type RunFolder } from './run-folder.ts'

const files = ['evaluation.json', 'records.jsonl', 'report.json']
const suffix = '.digests.json'

/** Writes digests of an evaluation's files next to its folder. Call it last, after the report is written. */
export function sealEvaluation(folder: string): void {
  const digests = files.map((name) => [name, digestOf(readFileSync(join(folder, name)))] as const)
  writeWhole(`${folder}${suffix}`, `${JSON.stringify(Object.fromEntries(digests), null, 2)}\n`)
}

/** Lets an evaluation that ended early continue. Throws if it was changed meanwhile. */
export function unsealEvaluation(folder: string): void {
  const seal = `${folder}${suffix}`
  if (!existsSync(seal)) return
  const changes = changesOf(folder)
  if (changes.length > 0)
    throw new RunError(
      `The evaluation ${folder} cannot continue: ${changes.join('; ')}. Restore the files, or delete the folder and ${seal} to start over.`,
    )
  rmSync(seal)
  syncFolder(join(folder, '..'))
}

/** Changes to evaluations since their digests were written, as sentences. */
export function changedEvaluations({ evaluationsFolder }: RunFolder): string[] {
  if (!existsSync(evaluationsFolder)) return []
  const seals = readdirSync(evaluationsFolder).filter((name) => name.endsWith(suffix))
  return seals.toSorted().flatMap((seal) => {
    const folder = join(evaluationsFolder, seal.slice(0, -suffix.length))
    if (existsSync(folder)) return changesOf(folder)
    return [`evaluation ${basename(folder)} is missing; if that is intended, delete ${folder}${suffix} too`]
  })
}

export function isSealed(folder: string): boolean {
  return existsSync(`${folder}${suffix}`)
}

function changesOf(folder: string): string[] {
  const about = `evaluation ${basename(folder)}:`
  let digests: Record<string, FileDigest>
  try {
    digests = JSON.parse(readFileSync(`${folder}${suffix}`, 'utf8'))
  } catch (error) {
    return [`${about} ${folder}${suffix} cannot be read (${(error as Error).message})`]
  }
  return files.flatMap((name) => {
    const path = join(folder, name)
    if (!existsSync(path)) return [`${about} ${name} is missing`]
    const { sha256 } = digestOf(readFileSync(path))
    return sha256 === digests[name]?.sha256 ? [] : [`${about} ${name} has changed: its digest does not match`]
  })
}
