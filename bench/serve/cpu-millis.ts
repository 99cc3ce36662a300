/** Processor time that this process has used, in all its threads. */
export function cpuMillis(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
