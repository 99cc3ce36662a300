import { RunFolder } from '../store/run-folder.ts'
import { beginRun, claimFolder, stateOf } from './open-run.ts'
import { prepareRun } from './prepare-run.ts'
import { openRunFiles } from './run-files.ts'
import type { TrainOptions } from './train-options.ts'

/**
 * Creates a run without training, with the untrained policy as its only checkpoint: a folder for evaluating
 * organisations that need no training. Makes no model call.
 */
export async function beginUntrained(options: TrainOptions): Promise<RunFolder> {
  const folder = new RunFolder(options.folder)
  using _ = await claimFolder(folder, false)
  const prepared = await prepareRun(folder, options)
  const { learner } = await beginRun(prepared, {})
  await using files = await openRunFiles(folder, 0, prepared.price)
  await files.writeCheckpoint(stateOf(prepared, learner, 0))
  await files.written()
  return folder
}
