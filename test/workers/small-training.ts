import { lexicalEncoder } from '../../src/encoder/lexical-encoder.ts'
import { openModel } from '../../src/models/open-model.ts'
import { Database } from '../../src/store/postgres/database.ts'
import { RunFolder } from '../../src/store/run-folder.ts'
import { train } from '../../src/training/train.ts'
import type { OpenElsewhere, TrainingResult } from '../../src/training/train-options.ts'
import { assignmentOf } from '../../src/workers/assignment.ts'
import { RemoteEvaluations } from '../../src/workers/remote-evaluations.ts'
import { smallSettings } from '../crash/small-training.ts'
import { tinyTaskSet } from '../tiny-task-set.ts'

/**
 * A training of a few dozen calls: started, or resumed if it exists. Without an address, in this process
 * alone.
 */
export async function trainByWorkers(
  folder: string,
  address: string | undefined,
  url: string,
): Promise<TrainingResult> {
  const model = openModel({ preset: 'vllm', model: 'simulated', baseURL: url }, {})
  const elsewhere: OpenElsewhere = async ({ place, parts, ledger }) => {
    const database = await Database.open(place!.address)
    const assignment = assignmentOf(parts, undefined)
    const remote = await RemoteEvaluations.open({ database, ledger, namespace: place!.name, assignment })
    return {
      ...{
        make: remote.make,
        spent: remote.spent,
        spentInAll: remote.spentInAll,
        refresh: remote.refresh,
        settled: remote.settled,
      },
      async close() {
        await remote.close()
        await database.close()
      },
    }
  }
  try {
    return await train({
      ...{ set: tinyTaskSet, model, folder, encoder: lexicalEncoder, sandbox: null },
      settings: { ...smallSettings, updates: 3 },
      resume: new RunFolder(folder).exists,
      ...(address === undefined ? {} : { database: address, elsewhere }),
    })
  } finally {
    await model.close()
  }
}
