/** A system prompt from paragraphs. Line breaks inside a paragraph are layout of the source, not of the prompt. */
export function prompt(...paragraphs: readonly string[]): string {
  return paragraphs.map((paragraph) => paragraph.replaceAll(/\s+/g, ' ').trim()).join('\n\n')
}
