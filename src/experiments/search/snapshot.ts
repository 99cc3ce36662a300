import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { digestOf } from '../../store/durable-file.ts'
import { importEvaluations } from '../../store/ledger/import-evaluations.ts'
import { SqliteLedger } from '../../store/ledger/sqlite.ts'
import type { Laboratory } from '../laboratory.ts'

/**
 * The ledger all routes start from, copied once before the first route, because the given one may belong to a running
 * training. Without a given one, routes start with nothing.
 */
export async function routeSnapshot(lab: Laboratory): Promise<string | undefined> {
  const { ledger, folder } = lab.options
  if (ledger === undefined) {
    lab.tell('ledger snapshot', 'empty')
    return undefined
  }
  const snapshot = join(folder, 'snapshot.sqlite')
  if (!existsSync(snapshot)) {
    const begun = `${snapshot}.begun`
    for (const left of [begun, `${begun}-wal`, `${begun}-shm`]) rmSync(left, { force: true })
    const copy = await SqliteLedger.open(begun)
    await importEvaluations(ledger, copy).finally(() => copy.close())
    renameSync(begun, snapshot)
  }
  lab.tell('ledger snapshot', `snapshot.sqlite, SHA-256 ${digestOf(readFileSync(snapshot)).sha256}`)
  return snapshot
}
