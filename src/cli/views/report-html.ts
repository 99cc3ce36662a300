import { readFileSync } from 'node:fs'
import { escaped, svgText } from '../../view/plots/svg.ts'
import type { ReportBlock } from './report.ts'

/** The dashboard's styles for plots. */
export const plotStyle = readFileSync(new URL('../../view/plots/plots.css', import.meta.url), 'utf8')

const style = `
:root { color-scheme: light dark; --surface: light-dark(#fff, #17181e); --raised: light-dark(#f1f2f6, #252832);
  --border: light-dark(#e2e4ea, #31343f); --text: light-dark(#1c1e26, #e9eaef); --soft: light-dark(#565a68, #a7abb9);
  --accent: light-dark(#4650c8, #a3abff); --accent-soft: light-dark(#eceefc, #292d4d); }
body { margin: 0 auto; max-width: 1180px; padding: 40px 24px 80px; background: var(--surface); color: var(--text);
  font: 14px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }
h1, h2, h3 { letter-spacing: -0.01em; line-height: 1.25; }
h2 { margin-top: 48px; padding-top: 24px; border-top: 1px solid var(--border); }
table { border-collapse: collapse; }
.table { overflow-x: auto; margin: 12px 0 20px; }
th, td { padding: 6px 20px 6px 0; text-align: left; border-bottom: 1px solid var(--border); }
th { color: var(--soft); font-weight: 400; }
.plots { display: flex; flex-wrap: wrap; gap: 20px; }
figure { margin: 0; max-width: 100%; overflow-x: auto; }
figcaption { color: var(--soft); font-size: 12px; }
`

/** One self-contained file: no scripts, no requests, all text escaped. */
export function htmlReport(blocks: readonly ReportBlock[]): string {
  const title = blocks.find((block) => 'heading' in block)
  const policy = "default-src 'none'; style-src 'unsafe-inline'"
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escaped(title !== undefined && 'heading' in title ? title.heading : 'Report')}</title>
<style>${style}${plotStyle}</style>
</head>
<body>
${blocks.map(htmlOf).join('\n')}
</body>
</html>
`
}

function htmlOf(block: ReportBlock): string {
  if ('heading' in block) return `<h${block.level}>${escaped(block.heading)}</h${block.level}>`
  if ('text' in block) return `<p>${escaped(block.text)}</p>`
  if ('plots' in block) {
    const figures = block.plots.map(({ caption, plot, hasTitle }) => {
      const below = hasTitle ? '' : `<figcaption>${escaped(caption)}</figcaption>`
      return `<figure>${svgText(plot)}${below}</figure>`
    })
    return `<div class="plots">${figures.join('')}</div>`
  }
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('')}</tr>`
  const head = block.columns.some(Boolean) ? `<thead>${row(block.columns, 'th')}</thead>` : ''
  const body = block.rows.map((cells) => row(cells, 'td')).join('')
  return `<div class="table"><table>${head}<tbody>${body}</tbody></table></div>`
}
