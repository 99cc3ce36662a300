import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lexicalEncoder } from '../src/encoder/lexical-encoder.ts'
import type { ChatModel, ChatReply, ChatRequest } from '../src/models/chat-model.ts'
import type { GivenTrainingSettings } from '../src/settings/training.ts'
import { knownTasks } from '../src/simulator/model/known-task.ts'
import { SimulatedModel } from '../src/simulator/model/simulator.ts'
import { RunFolder } from '../src/store/run-folder.ts'
import { train } from '../src/training/train.ts'
import type { TrainingResult, TrainOptions } from '../src/training/train-options.ts'
import { tinyTaskSet } from './tiny-task-set.ts'

export const tinySettings: GivenTrainingSettings = {
  hidden: 8,
  trajectories: 2,
  probes: 1,
  maxUnits: 2,
  updates: 3,
}

/** Knows all answers of the tiny set. */
export const tinyModel: ChatModel = new SimulatedModel({ tasks: knownTasks(tinyTaskSet), seed: 1 })

/** A model that wraps another one. */
export function modelAround(
  ask: (request: ChatRequest, signal: AbortSignal | undefined, number: number) => Promise<ChatReply>,
): ChatModel & { readonly calls: number } {
  let calls = 0
  return {
    identity: tinyModel.identity,
    get calls() {
      return calls
    },
    ask(request, signal) {
      calls += 1
      return ask(request, signal, calls)
    },
  }
}

/** A training of less than a second in a folder; resumed if it exists. */
export function trainTiny(folder: string, options: Partial<TrainOptions> = {}): Promise<TrainingResult> {
  return train({
    set: tinyTaskSet,
    model: tinyModel,
    folder,
    settings: tinySettings,
    encoder: lexicalEncoder,
    sandbox: null,
    resume: new RunFolder(folder).exists,
    ...options,
  })
}

/** The bytes of a run's newest weights and moments, and its trajectories. */
export function learned(folder: string): { weights: Buffer; moments: Buffer; trajectories: string } {
  const run = new RunFolder(folder)
  const place = run.checkpointPath(run.checkpoints().at(-1)!)
  return {
    weights: readFileSync(join(place, 'policy.safetensors')),
    moments: readFileSync(join(place, 'optimizer.safetensors')),
    trajectories: readFileSync(run.trajectoriesFile, 'utf8'),
  }
}
