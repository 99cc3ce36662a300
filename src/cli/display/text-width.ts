const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

const weightless = /[\p{Mn}\p{Me}]/u
const regionalIndicator = /\p{Regional_Indicator}/u
// What Unicode calls wide or full width; emoji apart, these are whole blocks.
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u

/**
 * Terminal cells that a text without control characters takes. Where terminals disagree (emoji made of several
 * characters) the larger figure is told: a line that is too short does no harm, one that wraps does.
 */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment)
  return width
}

function graphemeWidth(grapheme: string): number {
  let width = 0
  for (const character of grapheme) {
    if (weightless.test(character)) continue
    width += wide.test(character) && !regionalIndicator.test(character) ? 2 : 1
  }
  // The variation selector asks for a picture in place of a sign, which takes two cells where it is heeded.
  return grapheme.includes('\ufe0f') ? Math.max(2, width) : width
}

/** The beginning of a text that fits, with the ellipsis where something is missing. */
export function cutToWidth(text: string, width: number, ellipsis = '…'): string {
  if (textWidth(text) <= width) return text
  const room = width - textWidth(ellipsis)
  if (room < 0) return ellipsis.slice(0, Math.max(0, width))
  let kept = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    used += graphemeWidth(segment)
    if (used > room) break
    kept += segment
  }
  return `${kept.trimEnd()}${ellipsis}`
}

/** Spaces on the other side. */
export function padToWidth(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const spaces = ' '.repeat(Math.max(0, width - textWidth(text)))
  return side === 'left' ? text + spaces : spaces + text
}
