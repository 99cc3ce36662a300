export const exitCode = {
  done: 0,
  /** Also: no valid answer came out. What may go well the next time. */
  failed: 1,
  /** Wrong usage, configuration or input file: again would fail again. */
  usage: 2,
  /** A budget's cap was reached. All is kept, and a resume with a higher cap goes on. */
  capReached: 3,
  /** A score is below the threshold that was asked for. */
  belowThreshold: 4,
  /** The model refused key, money or permission. */
  refused: 5,
  /** Something could not be written or read: no room, no permission, or a broken disk. */
  disk: 6,
  /**
   * What the work depends on is gone: the model cannot be reached or rejects everything, or the sandbox fails, also in fresh
   * ones. Nothing was stored of what could not be done; a resume goes on.
   */
  unavailable: 7,
  interrupted: 130,
} as const

export const exitCodeHelp = `
Exit codes: 0 done, 1 failed or no valid answer, 2 wrong usage, configuration or input,
3 stopped at a cap (resumable), 4 below --threshold, 5 the model refused (key, money, permission),
6 disk full, not writable or broken (resumable), 7 the model cannot be reached or the sandbox fails
(resumable), 130 interrupted (resumable).`
