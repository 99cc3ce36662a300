import { heading, rowRuns } from './formats.ts'
import { xmlText } from './svg.ts'
import type { Cell, ExperimentResult, Figure, ReportTable } from './tables.ts'

const style = `
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; max-width: 80em; margin: 2em auto; padding: 0 1.5em }
h2 { margin-top: 2.2em }
.about { color: #555; margin: 0; font-size: 13px }
.simulated { background: #fff3cd; border: 1px solid #e0c97f; border-radius: 4px; padding: .5em .8em }
.scroll { overflow-x: auto; margin: .8em 0 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: .25em .7em; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap }
th { border-bottom: 2px solid #888; vertical-align: bottom; white-space: normal; min-width: 3.5em }
td:first-child, th:first-child { text-align: left }
.facts td { text-align: left; white-space: normal; overflow-wrap: anywhere }
.best { font-weight: bold } .second { text-decoration: underline }
ul, details { font-size: 13px; color: #333 } summary { cursor: pointer }
figure { margin: 1.5em 0 } figcaption { font-size: 13px; color: #555 }
`

/** A page that is self-contained except for its figures. Every row links to its runs. */
export function html(result: ExperimentResult): string {
  const title = xmlText(`${result.experiment}: ${result.title}`)
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${title}</title><style>${style}</style></head><body>`,
    `<h1>${title}</h1>`,
    result.simulated
      ? '<p class="simulated"><strong>Simulated: no language model was called.</strong></p>'
      : '',
    ...result.tables.map((table) => tableHtml(table, result)),
    ...result.figures.map((figure) => figureHtml(figure, result)),
    '<h2>Our decisions where the paper leaves things open</h2>',
    list(result.decisions),
    '<h2>Versions, data and prices</h2><div class="scroll"><table class="facts">',
    ...result.facts.map(([name, value]) => `<tr><td>${xmlText(name)}</td><td>${xmlText(value)}</td></tr>`),
    '</table></div></body></html>\n',
  ].join('\n')
}

function tableHtml(table: ReportTable, result: ExperimentResult): string {
  const [title, ...about] = heading(table, result)
  const runs = rowRuns(table).map(({ row, runs }) => `<li>${xmlText(row)}: ${runs.map(link).join(', ')}</li>`)
  return [
    `<h2 id="${xmlText(table.id)}">${xmlText(title!)}</h2>`,
    ...about.map((line) => `<p class="about">${xmlText(line)}</p>`),
    '<div class="scroll"><table><thead><tr>',
    ...table.columns.map((column) => `<th scope="col">${xmlText(column)}</th>`),
    '</tr></thead><tbody>',
    ...table.rows.map((cells) => `<tr>${cells.map(cellHtml).join('')}</tr>`),
    '</tbody></table></div>',
    list(table.notes ?? []),
    runs.length === 0
      ? ''
      : `<details><summary>Runs behind this table</summary><ul>${runs.join('')}</ul></details>`,
  ].join('\n')
}

function cellHtml({ text, mark, runs }: Cell): string {
  const marked = mark === undefined ? '' : ` class="${mark}"`
  const from = runs === undefined ? '' : ` title="${xmlText(runs.join(', '))}"`
  return `<td${marked}${from}>${xmlText(text)}</td>`
}

function figureHtml({ id, title, caption }: Figure, { simulated }: ExperimentResult): string {
  const shown = xmlText(simulated ? `${title} (simulated)` : title)
  return `<figure><img src="${xmlText(id)}.svg" alt="${shown}"><figcaption>${xmlText(caption ?? '')}</figcaption></figure>`
}

function link(run: string): string {
  return `<a href="${xmlText(encodeURI(run))}"><code>${xmlText(run)}</code></a>`
}

function list(items: readonly string[]): string {
  return items.length === 0 ? '' : `<ul>${items.map((one) => `<li>${xmlText(one)}</li>`).join('')}</ul>`
}
