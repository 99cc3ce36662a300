/** Shows control characters, and those that change the direction of text, as their codes instead of obeying them. */
export function visible(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Indents JSON; other text stays as it is. */
export function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** A short time: `87 ms`, `1.2 s`. */
export function shortTime(ms: number): string {
  return ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** An agent with the number of its unit, counted from 1: `2 fact_recaller`. The finalizer belongs to no unit. */
export function agentName({ node, executor }: { readonly node: string; readonly executor: string }): string {
  const unit = /^u(\d+)/.exec(node)?.[1]
  if (unit !== undefined) return `${Number(unit) + 1} ${executor}`
  // In a system that drives its agents by code, the final node is what the code returns.
  return executor === 'drive' ? 'answer' : executor
}
