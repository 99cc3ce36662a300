export const exitCodeHelp = `
Exit codes: 0 done, 1 failed or no valid answer, 2 wrong usage, configuration or input,
3 stopped at a cap (resumable), 4 below --threshold, 5 the model refused (key, money, permission),
6 disk full, not writable or broken (resumable), 7 the model cannot be reached or the sandbox fails
(resumable), 130 interrupted (resumable).`
