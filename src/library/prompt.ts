/** A system prompt from paragraphs. Line breaks inside a paragraph only format the source, not the prompt. */
export function prompt(...paragraphs: readonly string[]): string {
  return paragraphs.map((paragraph) => paragraph.replaceAll(/\s+/g, ' ').trim()).join('\n\n')
}
