import { AskedQuestions } from '../evaluation/asked-questions.ts'
import { loadPolicy, type TrainedPolicy } from '../evaluation/trained-policy.ts'
import { openToolbox, type Toolbox } from '../execution/toolbox.ts'
import type { RunFolder, RunRecord } from '../store/run-folder.ts'
import { type JobOptions, type JobToAsk, reopenToAsk } from './job.ts'
import { encoderOfRun } from './open-run.ts'

/** A run's policy with its model, tools and known questions, ready to be asked. */
export interface OpenedPolicy {
  readonly run: RunRecord
  readonly job: JobToAsk
  readonly policy: TrainedPolicy
  readonly questions: AskedQuestions
  readonly tools: Toolbox
}

interface PolicyToOpen extends JobOptions {
  readonly config?: string
  readonly update?: number
  /** Build graphs in a thread, so that other answers do not wait for it. */
  readonly thread?: boolean
}

/** `closing` closes the model. */
export async function openPolicy(
  folder: RunFolder,
  { update, thread, ...options }: PolicyToOpen,
  closing: AsyncDisposableStack,
  say: (text: string) => void,
): Promise<OpenedPolicy> {
  const run = folder.readRecord()
  const job = closing.use(await reopenToAsk(run, options, say))
  return {
    run,
    job,
    policy: await loadPolicy(folder, { encoder: await encoderOfRun(run, say), update, thread }),
    questions: new AskedQuestions(folder, run, job.set),
    tools: openToolbox(job.sandbox, job.tools),
  }
}
