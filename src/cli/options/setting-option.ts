import { Option } from 'commander'
import { allowedText, type Setting } from '../../settings/setting.ts'
import { flagOf, readValue } from './option-values.ts'

/** The flag of a setting: `learningRate` becomes `--learning-rate <x>`, with its schema's description, default and bounds. */
export function settingOption(setting: Setting, name = setting.key): Option {
  const { type, description, default: usual, choices } = setting
  const flag = flagOf(name)
  // `Seed of weights.` becomes `seed of weights`; a symbol, as in `K: graphs`, keeps its case.
  const meaning = description.replace(/\.$/, '').replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
  if (type === 'switch')
    return usual === true
      ? new Option(flag.replace('--', '--no-'), `do not ${meaning}`)
      : new Option(flag, meaning)
  // Not Commander's default: that looks like a flag the user gave and would override the configuration.
  const note = usual === undefined ? [] : [`default: ${usual}`]
  if (type === 'choice') return new Option(`${flag} <name>`, [meaning, ...note].join('; ')).choices(choices)
  const allowed = [...note, allowedText(setting)].join(', ')
  return new Option(`${flag} <${type === 'whole' ? 'n' : 'x'}>`, `${meaning} (${allowed})`).argParser(
    (text) => readValue(setting, text),
  )
}
