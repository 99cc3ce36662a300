import { Option } from 'commander'
import { allowedText, type Setting } from '../../settings/setting.ts'
import { readValue } from './option-values.ts'

/** A flag for a setting: `learningRate` becomes `--learning-rate <x>`, with description, default and bounds of its schema. */
export function settingOption(setting: Setting, name = setting.key): Option {
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const meaning = asFragment(setting.description)
  if (setting.type === 'switch')
    return setting.default === true
      ? new Option(`--no-${flag}`, `do not ${meaning}`)
      : new Option(`--${flag}`, meaning)
  if (setting.type === 'choice')
    return new Option(
      `--${flag} <name>`,
      setting.default === undefined ? meaning : `${meaning}; default: ${setting.default}`,
    ).choices(setting.choices)
  const value = setting.type === 'whole' ? 'n' : 'x'
  return new Option(`--${flag} <${value}>`, `${meaning}${noteText(setting)}`).argParser((text) =>
    readValue(setting, text),
  )
}

// Not commander's own default: that looks like a given flag, and would override the configuration.
function noteText(setting: Setting): string {
  const usual = setting.default === undefined ? '' : `default: ${setting.default}, `
  return ` (${usual}${allowedText(setting)})`
}

/** `Seed of weights.` becomes `seed of weights`; a symbol, as in `K: graphs`, keeps its case. */
function asFragment(sentence: string): string {
  const text = sentence.replace(/\.$/, '')
  return /^[A-Z][a-z]/.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text
}
