import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Configuration } from '../../configuration/configuration.ts'
import type { EncoderSource } from '../job.ts'

export interface EncoderOption {
  readonly encoder?: EncoderSource
}

export function addEncoderOption(command: Command): Command {
  return command.option(
    '--encoder <which>',
    "text encoder: auto, minilm, lexical, or the folder of MiniLM's files",
    (text): EncoderSource =>
      text === 'auto' || text === 'minilm' || text === 'lexical' ? text : { folder: resolve(text) },
  )
}

/** The flag, else the configuration, else MiniLM if it is available. */
export function givenEncoder({ encoder }: EncoderOption, configuration?: Configuration): EncoderSource {
  return encoder ?? configuration?.encoder ?? 'auto'
}
