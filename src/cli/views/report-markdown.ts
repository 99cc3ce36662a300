import { type SvgElement, svgElement, svgText } from '../../view/plots/svg.ts'
import type { ReportBlock } from './report.ts'
import { plotStyle } from './report-html.ts'

/** A standalone SVG has no page to take its colours from. */
const colours =
  'svg{background:#fff;font-family:system-ui,sans-serif;--surface:#fff;--raised:#f1f2f6;--border:#e2e4ea;--text:#1c1e26;--soft:#565a68;--accent:#4650c8;--accent-soft:#eceefc}'

/** The report as Markdown, with its plots as separate files in a folder beside it. */
export function markdownReport(
  blocks: readonly ReportBlock[],
  folder: string,
): { text: string; plots: { name: string; svg: string }[] } {
  const plots: { name: string; svg: string }[] = []
  const image = (caption: string, plot: SvgElement) => {
    const name = `${String(plots.length + 1).padStart(2, '0')}-${caption
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 40)
      .replace(/^-|-$/g, '')}.svg`
    plots.push({ name, svg: standalone(plot) })
    return `![${plain(caption)}](${encodeURI(folder)}/${name})`
  }
  const text = blocks.map((block) => {
    if ('heading' in block) return `${'#'.repeat(block.level)} ${plain(block.heading)}`
    if ('text' in block) return plain(block.text)
    if ('plots' in block) return block.plots.map(({ caption, plot }) => image(caption, plot)).join('\n')
    const row = (cells: readonly string[]) => `| ${cells.map(plain).join(' | ')} |`
    return [row(block.columns), row(block.columns.map(() => '---')), ...block.rows.map(row)].join('\n')
  })
  return { text: `${text.join('\n\n')}\n`, plots }
}

function standalone(plot: SvgElement): string {
  const attributes = { xmlns: 'http://www.w3.org/2000/svg', ...plot.attributes }
  return `${svgText({ ...plot, attributes, children: [svgElement('style', {}, `${colours}${plotStyle}`), ...plot.children] })}\n`
}

/** One line, with Markdown and HTML escaped. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|!~&]/g, '\\$&')
}
