// A result in the four forms of a report. All of them are made from `table.json` alone.
import { xmlText } from './svg.ts'
import type { Cell, ExperimentResult, ReportTable } from './tables.ts'

/** What every table says above itself. */
function heading({ title, source }: ReportTable, { simulated, deviations }: ExperimentResult): string[] {
  const what = {
    measured: simulated ? 'Measured on the SIMULATED model: no language model was asked.' : 'Measured.',
    quoted: "Quoted: the paper's own figures, not measured here.",
    computed: 'Computed; no model is involved.',
  }[source]
  const differing = source === 'measured' ? deviations.map((one) => `Deviation: ${one}`) : []
  return [title, what, ...differing]
}

export function markdown(result: ExperimentResult): string {
  const tables = result.tables.flatMap((table) => {
    const [title, ...about] = heading(table, result)
    const row = (cells: readonly string[]) =>
      `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
    return [
      `## ${title}`,
      about.join('  \n'),
      [
        row(table.columns),
        `|${table.columns.map(() => '---').join('|')}|`,
        ...table.rows.map((cells) => row(cells.map(markdownCell))),
      ].join('\n'),
      [...(table.notes ?? []), ...runLines(table)].map((line) => `- ${line}`).join('\n'),
    ]
  })
  const figures = result.figures.flatMap(({ id, title, caption }) => [
    `![${title}${result.simulated ? ' (simulated)' : ''}](${id}.svg)`,
    caption ?? '',
  ])
  return `${[
    `# ${result.experiment}: ${result.title}`,
    result.simulated ? '**Simulated: no language model was asked.**' : '',
    ...tables,
    ...figures,
    '## What was decided where the paper leaves it open',
    result.decisions.map((one) => `- ${one}`).join('\n'),
    '## What it rests on',
    ['| | |', '|---|---|', ...result.facts.map(([name, value]) => `| ${name} | ${value} |`)].join('\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`
}

function markdownCell({ text, mark }: Cell): string {
  return mark === 'best' ? `**${text}**` : mark === 'second' ? `<u>${text}</u>` : text
}

/** Which runs the figures of each row rest on. */
function runLines({ rows }: ReportTable): string[] {
  const lines = rows.flatMap((cells) => {
    const runs = [...new Set(cells.flatMap((cell) => cell.runs ?? []))]
    return runs.length === 0 ? [] : [`${cells[0]!.text}: ${runs.map((run) => `\`${run}\``).join(', ')}`]
  })
  return [...new Set(lines)]
}

/** One line per figure, unrounded: table, row, column, value, text, runs. */
export function csv(result: ExperimentResult): string {
  const lines = result.tables.flatMap((table) =>
    table.rows.flatMap((cells) =>
      cells.map(({ value, text, runs }, column) => [
        ...[table.id, table.source, String(result.simulated && table.source === 'measured')],
        ...[cells[0]!.text, table.columns[column]!, String(value ?? ''), text, (runs ?? []).join(' ')],
      ]),
    ),
  )
  const header = ['table', 'source', 'simulated', 'row', 'column', 'value', 'text', 'runs']
  return [header, ...lines].map((fields) => `${fields.map(csvField).join(',')}\r\n`).join('')
}

/** A spreadsheet would run what begins like a formula; numbers stay numbers. */
function csvField(field: string): string {
  const harmless = /^[=+@-]/.test(field) && !/^-?[\d.]+(e[+-]?\d+)?$/i.test(field) ? `'${field}` : field
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

export function latex(result: ExperimentResult): string {
  return result.tables
    .map((table) => {
      const [title, ...about] = heading(table, result)
      const row = (cells: readonly string[]) => `${cells.join(' & ')} \\\\`
      const cell = ({ text, mark }: Cell) => {
        const escapedText = latexText(text)
        return mark === 'best'
          ? `\\textbf{${escapedText}}`
          : mark === 'second'
            ? `\\underline{${escapedText}}`
            : escapedText
      }
      return [
        ...about.map((line) => `% ${line.replace(/\s+/g, ' ')}`),
        '\\begin{table}\\centering',
        `\\caption{${latexText([title, ...about].join(' '))}}`,
        `\\begin{tabular}{l${'r'.repeat(table.columns.length - 1)}}`,
        '\\hline',
        row(table.columns.map(latexText)),
        '\\hline',
        ...table.rows.map((cells) => row(cells.map(cell))),
        '\\hline',
        '\\end{tabular}\\end{table}',
      ].join('\n')
    })
    .join('\n\n')
    .concat('\n')
}

function latexText(text: string): string {
  return text
    .replace(/[\\&%$#_{}~^]/g, (character) =>
      character === '\\'
        ? '\\textbackslash{}'
        : character === '^'
          ? '\\^{}'
          : character === '~'
            ? '\\~{}'
            : `\\${character}`,
    )
    .replaceAll('↑', '$\\uparrow$')
    .replaceAll('↓', '$\\downarrow$')
    .replaceAll('×10\\^{}', '$\\times$10\\^{}')
    .replaceAll('−', '$-$')
}

export function html(result: ExperimentResult): string {
  const tables = result.tables.map((table) => {
    const [title, ...about] = heading(table, result)
    const cell = ({ text, mark, runs }: Cell) =>
      `<td${mark === undefined ? '' : ` class="${mark}"`}${runs === undefined ? '' : ` title="${xmlText(runs.join(', '))}"`}>${xmlText(text)}</td>`
    return [
      `<h2 id="${xmlText(table.id)}">${xmlText(title!)}</h2>`,
      ...about.map((line) => `<p>${xmlText(line)}</p>`),
      '<table><thead><tr>',
      ...table.columns.map((column) => `<th>${xmlText(column)}</th>`),
      '</tr></thead><tbody>',
      ...table.rows.map((cells) => `<tr>${cells.map(cell).join('')}</tr>`),
      '</tbody></table><ul>',
      ...[...(table.notes ?? []), ...runLines(table)].map((note) => `<li>${xmlText(note)}</li>`),
      '</ul>',
    ].join('\n')
  })
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<title>${xmlText(`${result.experiment}: ${result.title}`)}</title>`,
    '<style>body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}',
    'td,th{padding:.2em .6em;border-bottom:1px solid #ccc;text-align:right}td:first-child,th:first-child{text-align:left}',
    '.best{font-weight:bold}.second{text-decoration:underline}</style></head><body>',
    `<h1>${xmlText(`${result.experiment}: ${result.title}`)}</h1>`,
    result.simulated ? '<p><strong>Simulated: no language model was asked.</strong></p>' : '',
    ...tables,
    ...result.figures.map(
      ({ id, title, caption }) =>
        `<figure><img src="${xmlText(id)}.svg" alt="${xmlText(title)}"><figcaption>${xmlText(caption ?? '')}</figcaption></figure>`,
    ),
    '<h2>What was decided where the paper leaves it open</h2><ul>',
    ...result.decisions.map((one) => `<li>${xmlText(one)}</li>`),
    '</ul><h2>What it rests on</h2><table>',
    ...result.facts.map(([name, value]) => `<tr><td>${xmlText(name)}</td><td>${xmlText(value)}</td></tr>`),
    '</table></body></html>\n',
  ].join('\n')
}
