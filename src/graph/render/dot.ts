import type { Picture, PictureNode } from './picture.ts'

/** The graph in Graphviz's language. */
export function dot({ parts, edges }: Picture): string {
  const lines = ['digraph {', '  node [shape=box]']
  for (const part of parts) {
    if ('nodes' in part) {
      // Graphviz only draws frames around subgraphs named `cluster…`.
      lines.push(`  subgraph cluster_${part.id} {`)
      lines.push(`    label=${quoted(part.label)}`)
      lines.push(...part.nodes.map((node) => `    ${declaration(node)}`))
      lines.push('  }')
    } else {
      lines.push(`  ${declaration(part)}`)
    }
  }
  lines.push(...edges.map(([from, to]) => `  ${from} -> ${to}`), '}')
  return `${lines.join('\n')}\n`
}

const shapes = { agent: '', group: ', peripheries=2', end: ', style=rounded' } as const

function declaration({ id, label, kind }: PictureNode): string {
  return `${id} [label=${quoted(label)}${shapes[kind]}]`
}

/** Graphviz reads backslash sequences and HTML entities inside of quoted labels. */
function quoted(label: string): string {
  return `"${label.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('&', '&amp;')}"`
}
