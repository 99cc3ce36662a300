export const exitCode = {
  done: 0,
  failed: 1,
  /** Wrong usage, configuration or input file. */
  usage: 2,
} as const

export const exitCodeHelp = `
Exit codes: 0 done, 1 failed, 2 wrong usage, configuration or input.`
