import { RunFolder } from '../store/run-folder.ts'
import { beginRun, claimFolder, stateOf } from './open-run.ts'
import { prepareRun } from './prepare-run.ts'
import { openRunFiles } from './run-files.ts'
import type { TrainOptions } from './train-options.ts'

/**
 * A run that nothing is learned in, with the untrained policy as its only checkpoint: a folder for evaluations of organisations
 * that need no training. Nothing is asked of the model.
 */
export async function beginUntrained(options: TrainOptions): Promise<RunFolder> {
  const folder = new RunFolder(options.folder)
  const lock = await claimFolder(folder, false)
  try {
    const prepared = await prepareRun(folder, options)
    const nothing = {
      calls: 0,
      input: 0,
      cachedInput: 0,
      output: 0,
      cost: 'unpriced',
      unknown: 0,
      minutes: 0,
    } as const
    const { learner } = await beginRun(prepared, nothing, {})
    await using files = await openRunFiles(folder, 0, prepared.price)
    await files.writeCheckpoint(stateOf(prepared, learner, 0))
    await files.written()
    return folder
  } finally {
    lock.release()
  }
}
