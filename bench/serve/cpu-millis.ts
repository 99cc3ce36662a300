/** CPU time this process has used, in all threads. */
export function cpuMillis(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
