import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { lexicalEncoder } from '../../src/encoder/lexical-encoder.ts'
import { openModel } from '../../src/models/open-model.ts'
import type { BudgetSettings } from '../../src/settings/budget.ts'
import type { LedgerFileOptions } from '../../src/store/ledger/ledger-file.ts'
import { RunFolder } from '../../src/store/run-folder.ts'
import { train } from '../../src/training/train.ts'
import type { TrainingResult } from '../../src/training/train-options.ts'
import { tinyTaskSet } from '../tiny-task-set.ts'
import { printFact, type Tell, tellingModel, watchLedgers } from './facts.ts'

export interface TrainRunSettings {
  readonly updates?: number
  readonly concurrency?: number
  readonly requestReuse?: boolean
  readonly budget?: BudgetSettings
  readonly ledger?: Pick<LedgerFileOptions, 'maxPages' | 'patienceMs'>
}

export const smallSettings = { hidden: 8, trajectories: 2, probes: 1, maxUnits: 2 } as const

/** A training of seconds in a folder, with a model behind a URL: started, or resumed if it exists. */
export async function trainSmall(
  folder: string,
  url: string,
  settings: TrainRunSettings & { readonly signal?: AbortSignal; readonly tell?: Tell } = {},
): Promise<TrainingResult> {
  const { updates = 3, concurrency = 4, requestReuse = true, budget, signal, tell = printFact } = settings
  using _ = watchLedgers(tell, settings.ledger ?? {})
  const apiKeyEnv = process.env['CRASH_KEY'] === undefined ? {} : { apiKeyEnv: 'CRASH_KEY' }
  const model = openModel({ preset: 'vllm', model: 'simulated', baseURL: url, ...apiKeyEnv })
  try {
    return await train({
      set: tinyTaskSet,
      model: tellingModel(model, tell),
      folder,
      settings: { ...smallSettings, updates, requestReuse },
      concurrency,
      encoder: lexicalEncoder,
      sandbox: null,
      resume: new RunFolder(folder).exists,
      ...(budget === undefined ? {} : { budget }),
      ...(signal === undefined ? {} : { signal }),
      onEvent: (event) => {
        if (event.type === 'start') tell(`in-flight ${event.inFlight}`)
        if (event.type === 'update') tell(`update ${event.update + 1}`)
      },
    })
  } finally {
    await model.close()
  }
}

/** Everything a run ends with that must not depend on what happened to it, by file. */
export function outcome(folder: string): ReadonlyMap<string, string> {
  const run = new RunFolder(folder)
  const place = run.checkpointPath(run.checkpoints().at(-1) ?? 0)
  const files = [
    join(place, 'policy.safetensors'),
    join(place, 'optimizer.safetensors'),
    join(place, 'state.json'),
    run.trajectoriesFile,
  ]
  return new Map(
    files.map((path) => {
      const text = readFileSync(path, 'latin1')
      return [basename(path), path.endsWith('state.json') ? stateOf(text) : text]
    }),
  )
}

/** Without the digests of events and calls, which contain times. */
function stateOf(text: string): string {
  const { restsOn, digest: _, ...state } = JSON.parse(text)
  const { settings, files } = restsOn
  const { 'events.jsonl': __, 'calls.jsonl': ___, ...same } = files
  return JSON.stringify({ ...state, settings, files: { ...state.files, ...same } })
}
