import { Option } from 'commander'
import type { EvaluateOptions } from '../../evaluation/evaluate.ts'
import type { JsonObject } from '../../library/json-value.ts'
import { PostgresLedger } from '../../store/ledger/postgres.ts'
import { givenAddress, type PostgresAddress } from '../../store/postgres/address.ts'
import { Database } from '../../store/postgres/database.ts'
import { makeLedger } from '../../store/run-ledger.ts'
import type { OpenElsewhere } from '../../training/train-options.ts'
import { assignmentOf } from '../../workers/assignment.ts'
import { RemoteEvaluations } from '../../workers/remote-evaluations.ts'
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

/** Lets workers run a training's graphs. */
export function byWorkers(say: (text: string) => void): OpenElsewhere {
  return async ({ place, parts, ledger, source, caps }) => {
    if (place === undefined)
      throw new UsageError(
        "Workers cannot reach this run's ledger, which is in its folder. Move it to PostgreSQL with `magic ledger copy`.",
      )
    const database = await Database.open(place.address)
    const assignment = assignmentOf(parts, source)
    const remote = await RemoteEvaluations.open({ database, ledger, namespace: place.name, assignment, say })
    await remote.setCaps(caps)
    const { make, spent, refresh } = remote
    return { make, spent, refresh, close: () => remote.close().then(() => database.close()) }
  }
}

/** Lets workers run an evaluation's graphs, with a new ledger: an evaluation reuses nothing. */
export function afreshByWorkers(
  source: JsonObject,
  say: (text: string) => void,
): NonNullable<EvaluateOptions['elsewhere']> {
  return async ({ parts, split, caps: { cost, tokens, calls } }) => {
    const address = sharedAddress()
    const namespace = await makeLedger(address, `evaluation of ${parts.set.name}`)
    const database = await Database.open(address, { connections: 8 })
    const ledger = await PostgresLedger.open(database, { name: namespace })
    const assignment = assignmentOf(parts, source)
    const remote = await RemoteEvaluations.open({ database, ledger, namespace, assignment, split, say })
    await remote.setCaps({ cost, tokens, calls })
    const { make, spent, refresh } = remote
    return {
      ...{ make, spent, refresh, capacity: () => remote.capacity() },
      findTrace: (execution) => ledger.findTrace(execution),
      close: () => remote.close().then(() => database.close()),
    }
  }
}
