export const exitCode = {
  done: 0,
  /** Also: no valid answer came out. */
  failed: 1,
  /** Wrong usage, configuration or input file. */
  usage: 2,
  /** The model refused key, money or permission. */
  refused: 5,
  interrupted: 130,
} as const

export const exitCodeHelp = `
Exit codes: 0 done, 1 failed or no valid answer, 2 wrong usage, configuration or input,
5 the model refused (key, money, permission), 130 interrupted.`
