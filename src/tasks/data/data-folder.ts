// The folder that holds the benchmarks' files, in the layout of the official sources under a folder per benchmark.
import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** `MAGIC_DATA_DIR`, else the place that the XDG conventions give for data. */
export function defaultDataFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const chosen = environment['MAGIC_DATA_DIR']
  if (chosen !== undefined && chosen !== '') return chosen
  const data = environment['XDG_DATA_HOME']
  // The conventions say that a relative path is to be ignored.
  const base = data !== undefined && isAbsolute(data) ? data : join(homedir(), '.local', 'share')
  return join(base, 'magic', 'data')
}

/** The formats that a file may have instead of the official one. */
export const endings: readonly string[] = ['.parquet', '.jsonl', '.jsonl.gz', '.json']

/** `HumanEval.jsonl.gz` without its endings. */
export function stemOf(file: string): string {
  return file.replace(/(\.(jsonl|json|parquet|gz))+$/, '')
}

/**
 * Where a file lies: under its official name, or as Parquet or unpacked beside where that would be; the reader goes by the
 * content. Without any of them, the official name.
 */
export function locateFile(root: string, file: string): string {
  const names = [file, ...endings.map((ending) => `${stemOf(file)}${ending}`)]
  return names.map((name) => join(root, name)).find(isFile) ?? join(root, file)
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
