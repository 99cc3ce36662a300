import type { Picture, PictureNode } from './picture.ts'

/** A Mermaid flowchart, as GitHub and most documentation tools draw it. */
export function mermaid({ parts, edges }: Picture): string {
  const lines = ['flowchart TD']
  for (const part of parts) {
    if ('nodes' in part) {
      lines.push(`  subgraph ${part.id}["${escaped(part.label)}"]`)
      lines.push(...part.nodes.map((node) => `    ${declaration(node)}`))
      lines.push('  end')
    } else {
      lines.push(`  ${declaration(part)}`)
    }
  }
  lines.push(...edges.map(([from, to]) => `  ${from} --> ${to}`))
  return `${lines.join('\n')}\n`
}

const shapes = { agent: ['[', ']'], group: ['[[', ']]'], end: ['([', '])'] } as const

function declaration({ id, label, kind }: PictureNode): string {
  const [open, close] = shapes[kind]
  return `${id}${open}"${escaped(label)}"${close}`
}

/**
 * Everything but plain words becomes a Mermaid character code: inside quoted labels Mermaid reads not only quotes and
 * HTML, but also Markdown, formulas, links, directives and style rules. `_` and `-` between letters are safe.
 */
function escaped(label: string): string {
  return label.replace(
    /(?<![\p{L}\p{N}])[_-]|[_-](?![\p{L}\p{N}])|[^\p{L}\p{M}\p{N} (),_-]/gu,
    (character) => `#${character.codePointAt(0)};`,
  )
}
