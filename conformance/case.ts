/** The outcome of one golden case: no `failure` means that it passed. */
export interface CaseResult {
  name: string
  failure?: string
}

/** Runs every case of one kind found in a folder. A file that cannot be read is a failing case, not an exception. */
export type KindRunner = (folder: string) => AsyncIterable<CaseResult> | Iterable<CaseResult>
