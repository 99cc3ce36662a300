import { resolve } from 'node:path'
import { Option } from 'commander'
import { contractKinds } from '../../library/answer-contract.ts'
import { runSettings } from '../../settings/run-settings.ts'
import { settingsOf } from '../../settings/setting.ts'
import { benchmarkProfiles } from '../../tasks/benchmarks/list.ts'
import type { EncoderSource } from '../job.ts'
import { wholeNumber } from './option-values.ts'
import { settingOption } from './setting-option.ts'

// Flags that several commands share.

export function runsDirOption(): Option {
  return new Option('--runs-dir <folder>', 'where runs are stored (default: $MAGIC_RUNS_DIR or ./runs)')
}

/** `usual` replaces the schema's default in the help. */
export function concurrencyOption(usual?: string): Option {
  const [setting] = settingsOf(runSettings.concurrency)
  return settingOption({ ...setting!, default: usual ?? setting!.default }, 'concurrency')
}

export function contractOption(): Option {
  return new Option('--contract <kind>', 'the form of the answer').choices(Object.keys(contractKinds))
}

export function profileOption(what: string): Option {
  return new Option('--profile <name>', what).choices(Object.keys(benchmarkProfiles))
}

export function libraryOption(): Option {
  return new Option('--library <file>', "your own role library (YAML) instead of the paper's 14 roles")
}

export function checkpointOption(): Option {
  return new Option('--update <n>', 'use the checkpoint after n updates, not the newest').argParser(
    wholeNumber(0),
  )
}

export function drawSeedOption(): Option {
  return new Option('--seed <n>', "seed for sampling graphs (default: the run's)").argParser(wholeNumber(0))
}

export function jsonOption(what = 'everything as one JSON object'): Option {
  return new Option('--json', `print ${what}`).default(false)
}

export function encoderOption(): Option {
  return new Option(
    '--encoder <which>',
    "text encoder: auto, minilm, lexical, or a folder with MiniLM's files",
  ).argParser(
    (text): EncoderSource =>
      text === 'auto' || text === 'minilm' || text === 'lexical' ? text : { folder: resolve(text) },
  )
}
