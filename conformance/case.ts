/** The outcome of one golden case; without `failure` it passed. */
export interface CaseResult {
  name: string
  failure?: string
}

/** Runs every case of one kind in a folder. An unreadable file is a failing case, not an exception. */
export type KindRunner = (folder: string) => AsyncIterable<CaseResult> | Iterable<CaseResult>
