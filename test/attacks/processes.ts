import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** Python: a first line for programs that are examined while they run. It sends their case a message. */
export const announcesStart = 'import os\nos.write(3, b"\\0\\0\\0\\2{}")'

interface ProcessFacts {
  readonly parent: number
  /** In clock ticks since the machine started. */
  readonly startedAt: number
}

/** The ids of all processes below one, oldest first. */
export function descendants(ancestor: number): number[] {
  const all = new Map<number, ProcessFacts>()
  for (const name of readdirSync('/proc')) {
    const facts = /^\d+$/.test(name) ? readFacts(name) : undefined
    if (facts !== undefined) all.set(Number(name), facts)
  }
  const isBelow = (pid: number): boolean => {
    const parent = all.get(pid)?.parent
    return parent !== undefined && (parent === ancestor || isBelow(parent))
  }
  // Ids wrap around at some point, so the smaller id is older only within the same tick.
  const age = (a: number, b: number) => all.get(a)!.startedAt - all.get(b)!.startedAt || a - b
  return [...all.keys()].filter(isBelow).sort(age)
}

/** Undefined if it has ended meanwhile. */
function readFacts(pid: string): ProcessFacts | undefined {
  try {
    // After the name in brackets, which may contain anything: state, parent, and as the twentieth the start.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return { parent: Number(fields[1]), startedAt: Number(fields[19]) }
  } catch {
    return undefined
  }
}

/** Waits until none of them is alive; false if that takes minutes. */
export async function gone(pids: readonly number[]): Promise<boolean> {
  for (let tries = 0; tries < 4800; tries += 1) {
    if (!pids.some(isAlive)) return true
    await wait(25)
  }
  return false
}

function isAlive(pid: number): boolean {
  try {
    // A zombie waiting for its parent is dead.
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
