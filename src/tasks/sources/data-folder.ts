// The folder with the benchmarks' files: a folder per benchmark, in the layout of its official source.
import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** `MAGIC_DATA_DIR`, else the XDG location for data. */
export function defaultDataFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const chosen = environment['MAGIC_DATA_DIR']
  if (chosen !== undefined && chosen !== '') return chosen
  const data = environment['XDG_DATA_HOME']
  // XDG says to ignore relative paths.
  const base = data !== undefined && isAbsolute(data) ? data : join(homedir(), '.local', 'share')
  return join(base, 'magic', 'data')
}

const endings = ['.parquet', '.jsonl', '.jsonl.gz', '.json']

/** `HumanEval.jsonl.gz` without its endings. */
export function stemOf(file: string): string {
  return file.replace(/(\.(jsonl|json|parquet|gz))+$/, '')
}

/** Names a split's file may have: the official one, or other formats. Readers detect the format by content. */
export function possibleNames(file: string): readonly string[] {
  return [file, ...endings.map((ending) => `${stemOf(file)}${ending}`)]
}

/** The official name, with the extension of `origin` if its format differs. */
export function storedName(file: string, origin: string): string {
  const ending = origin.slice(stemOf(origin).length)
  return endings.includes(ending) ? `${stemOf(file)}${ending}` : file
}

/** The path of a split's file; its official name if the file is missing. */
export function locateFile(root: string, file: string): string {
  const paths = possibleNames(file).map((name) => join(root, name))
  return paths.find(isFile) ?? join(root, file)
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
