import type { Option } from '../../library/task.ts'
import { UsageError } from '../problem.ts'

/**
 * The options of a question as a person types them: `A) Paris B) Rome` in one text or in several. A letter counts as a label
 * only where it is the next one, so that `vitamin C.` stays text. Texts without labels get them in their order.
 */
export function readOptions(texts: readonly string[]): Option[] {
  const labelled = labelledOptions(texts.join('\n'))
  const options =
    labelled.length > 0
      ? labelled
      : texts.map((text, index) => ({ label: String.fromCharCode(65 + index), text: text.trim() }))
  const empty = options.find(({ text }) => text === '')
  if (empty !== undefined) throw new UsageError(`The option ${empty.label} has no text.`)
  if (options.length < 2 || options.length > 26)
    throw new UsageError(
      `There ${options.length === 1 ? 'is 1 option' : `are ${options.length} options`}; a question has 2 to 26, such as --options "A) Paris" "B) Rome".`,
    )
  return options
}

function labelledOptions(text: string): Option[] {
  const options: { label: string; from: number; start: number }[] = []
  for (const match of text.matchAll(/(?<=^|\s)\(?([A-Z])[).:]\s*/g)) {
    const label = match[1]!
    if (label !== String.fromCharCode(65 + options.length)) continue
    options.push({ label, from: match.index, start: match.index + match[0].length })
  }
  if (options.length === 0 || text.slice(0, options[0]!.from).trim() !== '') return []
  return options.map(({ label, start }, index) => ({
    label,
    text: text.slice(start, options[index + 1]?.from).trim(),
  }))
}
