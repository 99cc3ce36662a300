import { randomUUID } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Option } from 'commander'
import type { EvaluateOptions } from '../../evaluation/evaluate.ts'
import type { JsonObject } from '../../library/json-value.ts'
import { PostgresLedger } from '../../store/ledger/postgres.ts'
import { removeLedger } from '../../store/ledger/postgres-ledgers.ts'
import { givenAddress, type PostgresAddress } from '../../store/postgres/address.ts'
import { Database } from '../../store/postgres/database.ts'
import { readPlace, writePlace } from '../../store/run-ledger.ts'
import type { OpenElsewhere } from '../../training/train-options.ts'
import { assignmentOf } from '../../workers/assignment.ts'
import { RemoteEvaluations, type RemoteOptions } from '../../workers/remote-evaluations.ts'
import { UsageError } from '../problem.ts'

export function workersOption(): Option {
  return new Option(
    '--workers',
    'let `magic worker` processes run the graphs, through the PostgreSQL in MAGIC_LEDGER',
  )
}

export function sharedAddress(): PostgresAddress {
  const address = givenAddress()
  if (address !== undefined) return address
  throw new UsageError(
    'Workers need a shared PostgreSQL. Set MAGIC_LEDGER to its address: postgres://user:password@host:5432/database.',
  )
}

/** Lets workers run the graphs of a training, or of a search with its ledger. */
export function byWorkers(say: (text: string) => void): OpenElsewhere {
  return async ({ place, parts, ledger, source, caps, search }) => {
    if (place === undefined)
      throw new UsageError(
        "Workers cannot reach this run's ledger, which is in its folder. Move it to PostgreSQL with `magic ledger copy`.",
      )
    const { address, name: namespace } = place
    const assignment = assignmentOf(parts, source)
    // A search is not part of the training's budget.
    const account = search === undefined ? {} : { account: `${namespace} search ${search}`, isFromNow: true }
    return opened(await Database.open(address, { say }), {
      ledger,
      namespace,
      assignment,
      caps,
      say,
      ...account,
    })
  }
}

/**
 * Lets workers run an evaluation's graphs, with a ledger of its own: an evaluation reuses nothing. One that was interrupted
 * finds its ledger again by a file in its folder.
 */
export function afreshByWorkers(
  source: JsonObject,
  say: (text: string) => void,
): NonNullable<EvaluateOptions['elsewhere']> {
  return async ({ parts, split, rules, folder, caps: { cost, tokens, calls } }) => {
    const placeFile = folder === undefined ? undefined : join(folder, 'ledger.json')
    const namespace = placeFile !== undefined && existsSync(placeFile) ? readPlace(placeFile) : randomUUID()
    const database = await Database.open(sharedAddress(), { connections: 8, say })
    await PostgresLedger.create(database, namespace, `evaluation of ${parts.set.name}`)
    if (placeFile !== undefined) writePlace(placeFile, namespace)
    const ledger = await PostgresLedger.open(database, { name: namespace })
    const assignment = assignmentOf(parts, source, rules)
    const remote = {
      ledger,
      namespace,
      assignment,
      split,
      say,
      caps: { cost, tokens, calls },
      isFromNow: true,
    }
    return {
      ...(await opened(database, remote)),
      findTrace: (execution) => ledger.findTrace(execution),
      async remove() {
        await removeLedger(database, namespace)
        if (placeFile !== undefined) rmSync(placeFile, { force: true })
      },
    }
  }
}

async function opened(database: Database, options: Omit<RemoteOptions, 'database'>) {
  try {
    const remote = await RemoteEvaluations.open({ ...options, database })
    const { make, spent, spentInAll, refresh, settled } = remote
    return {
      ...{ make, spent, spentInAll, refresh, settled, capacity: () => remote.capacity() },
      close: () => remote.close().then(() => database.close()),
    }
  } catch (error) {
    await database.close()
    throw error
  }
}
