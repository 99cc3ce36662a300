import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { packTar, unpackTar } from 'modern-tar'
import type { JsonObject } from '../library/json-value.ts'
import { RunError, RunFolder } from './run-folder.ts'

// An export is a run folder with only what is needed to use it: record, roles, answer contracts and the weights of
// one checkpoint. It has no optimizer, ledger, events or question ids.

export interface ExportOptions {
  /** A new folder, or a file that ends in .tgz. */
  readonly to: string
  /** The newest checkpoint by default. */
  readonly update?: number
  /** How to find tasks and model, for the record. Default: the run's. */
  readonly source?: JsonObject
}

export interface ExportedRun {
  readonly path: string
  /** Names and sizes of its files. */
  readonly files: Readonly<Record<string, number>>
  readonly update: number
}

/**
 * Writes the part of a run that is needed to use its policy. `loadPolicy`, `solve`, `magic ask` and `magic serve`
 * accept it as a run.
 */
export async function exportRun(from: string | RunFolder, options: ExportOptions): Promise<ExportedRun> {
  const run = typeof from === 'string' ? new RunFolder(from) : from
  const path = resolve(options.to)
  if (existsSync(path)) throw new RunError(`${path} already exists. Choose another place for the export.`)
  const checkpoint = run.readCheckpoint({}, options.update)
  if (checkpoint === undefined)
    throw new RunError(`${run.path} has no checkpoint yet: there is nothing to use.`)
  const isArchive = isArchivedExport(path)
  const folder = isArchive ? temporaryFolder() : path
  try {
    const { optimizer: _, restsOn: __, ...usable } = checkpoint
    const copy = new RunFolder(folder)
    mkdirSync(folder, { recursive: true })
    await copy.writeCheckpoint(usable)
    for (const file of ['libraryFile', 'contractsFile'] as const)
      if (existsSync(run[file])) writeFileSync(copy[file], readFileSync(run[file]))
    const record = { ...run.readRecord(), source: options.source ?? run.readRecord().source }
    writeFileSync(copy.recordFile, `${JSON.stringify(record, null, 2)}\n`)
    const files = filesIn(folder)
    if (isArchive) {
      const entries = Object.entries(files).map(([name, size]) => ({
        header: { name, size, mtime: new Date(record.createdAt) },
        body: readFileSync(join(folder, name)),
      }))
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, gzipSync(await packTar(entries)))
    }
    return { path, files, update: checkpoint.update }
  } finally {
    if (isArchive) rmSync(folder, { recursive: true })
  }
}

const partOfExport =
  /^(?:run\.json|library\.yaml|contracts\.json|checkpoints\/update-\d{6,}\/(?:state\.json|policy\.safetensors))$/

const maxExportBytes = 2 ** 30

/** Whether a path names a packed export rather than a folder. */
export function isArchivedExport(path: string): boolean {
  return path.endsWith('.tgz')
}

/** Unpacks an export into a folder that is deleted when the process ends. The archive cannot choose where files go. */
export async function unpackExport(file: string): Promise<RunFolder> {
  const folder = temporaryFolder()
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  try {
    const bytes = gunzipSync(readFileSync(file), { maxOutputLength: maxExportBytes })
    for (const { header, data } of await unpackTar(bytes, { strict: true })) {
      if (header.type === 'directory') continue
      if (!partOfExport.test(header.name)) throw new Error(`it contains ${header.name.slice(0, 80)}`)
      mkdirSync(dirname(join(folder, header.name)), { recursive: true })
      writeFileSync(join(folder, header.name), data ?? '')
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') throw error
    const what = code === 'ENOENT' ? `There is no ${file}` : `${file} is not an export of a run: ${message}`
    throw new RunError(`${what}. \`magic export RUN --to ${file}\` makes one.`)
  }
  return new RunFolder(folder)
}

function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'magic-export-'))
}

function filesIn(folder: string): Record<string, number> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const names = entries.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).sort()
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name)).length]))
}
