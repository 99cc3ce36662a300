import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Whether users other than the owner have access: a checkout in root's home is closed to them. */
export function isOpenToAll(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    for (let at = path; at !== '/'; at = dirname(at))
      if ((statSync(at).mode & 0o005) !== 0o005 && at !== path) return false
    return (statSync(path).mode & 0o004) !== 0
  } catch {
    return false
  }
}
