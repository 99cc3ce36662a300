import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** Python: a first line for programs that are to be met while they run. Their case gets a message. */
export const saysItRuns = 'import os\nos.write(3, b"\\0\\0\\0\\2{}")'

/** Numbers of all processes below one, as the kernel shows them, oldest first. */
export function descendants(ancestor: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const [, parent] = /^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? []
      if (parent !== undefined) parents.set(Number(name), Number(parent))
    } catch {
      // Gone while we were looking.
    }
  }
  const below = (pid: number): boolean => {
    const parent = parents.get(pid)
    return parent !== undefined && (parent === ancestor || below(parent))
  }
  return [...parents.keys()].filter(below).sort((a, b) => a - b)
}

/** Waits until none of them is alive; false when that takes minutes. */
export async function gone(pids: readonly number[]): Promise<boolean> {
  for (let tries = 0; tries < 4800; tries += 1) {
    if (!pids.some(isAlive)) return true
    await wait(25)
  }
  return false
}

function isAlive(pid: number): boolean {
  try {
    // A process that is only left for its parent to notice is dead.
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
