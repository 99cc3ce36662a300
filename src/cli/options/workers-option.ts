import { Option } from 'commander'
import { givenAddress, type PostgresAddress } from '../../store/postgres/address.ts'
import { Database } from '../../store/postgres/database.ts'
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
    const remote = await RemoteEvaluations.open({
      ...{ database, ledger, namespace: place.name, say },
      assignment: assignmentOf(parts, source),
    })
    await remote.setCaps(caps)
    const close = async () => {
      await remote.close()
      await database.close()
    }
    return { make: remote.make, spent: remote.spent, refresh: remote.refresh, close }
  }
}
