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
    'have graphs run by `magic worker` processes, through the PostgreSQL that MAGIC_LEDGER names',
  )
}

/** The shared PostgreSQL; without one there is nothing to share. */
export function sharedAddress(): PostgresAddress {
  const address = givenAddress()
  if (address !== undefined) return address
  throw new UsageError(
    'Workers share a PostgreSQL: set MAGIC_LEDGER to its address, postgres://user:password@host:5432/database.',
  )
}

/** Has a run's graphs run by workers. */
export function byWorkers(say: (text: string) => void): OpenElsewhere {
  return async ({ place, parts, ledger, source, caps }) => {
    if (place === undefined)
      throw new UsageError(
        'The ledger of this run is in its folder, where no worker can see it: `magic ledger copy` moves it to PostgreSQL.',
      )
    const database = await Database.open(place.address)
    const assignment = assignmentOf(parts, source)
    const remote = await RemoteEvaluations.open({ database, ledger, namespace: place.name, assignment, say })
    await remote.setCaps(caps)
    const { make, spent, refresh } = remote
    return { make, spent, refresh, close: () => remote.close().then(() => database.close()) }
  }
}

/** The same for an evaluation, in a new ledger: nothing is taken from another one. */
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
