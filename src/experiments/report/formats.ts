// Text formats of a report; `html.ts` has the fourth. All are made from `table.json` alone.
import type { Cell, ExperimentResult, ReportTable } from './tables.ts'

/** The lines above every table. */
export function heading(
  { title, source }: ReportTable,
  { simulated, deviations }: ExperimentResult,
): string[] {
  const what = {
    measured: simulated ? 'Measured on the SIMULATED model: no language model was called.' : 'Measured.',
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
    result.simulated ? '**Simulated: no language model was called.**' : '',
    ...tables,
    ...figures,
    '## Our decisions where the paper leaves things open',
    result.decisions.map((one) => `- ${one}`).join('\n'),
    '## Versions, data and prices',
    ['| | |', '|---|---|', ...result.facts.map(([name, value]) => `| ${name} | ${value} |`)].join('\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`
}

function markdownCell({ text, mark }: Cell): string {
  return mark === 'best' ? `**${text}**` : mark === 'second' ? `<u>${text}</u>` : text
}

function runLines(table: ReportTable): string[] {
  return rowRuns(table).map(({ row, runs }) => `${row}: ${runs.map((run) => `\`${run}\``).join(', ')}`)
}

/** The runs behind each row's figures; rows of the same name are combined. */
export function rowRuns({ rows }: ReportTable): { readonly row: string; readonly runs: readonly string[] }[] {
  return [...Map.groupBy(rows, ([first]) => first!.text)].flatMap(([row, alike]) => {
    const runs = [...new Set(alike.flat().flatMap((cell) => cell.runs ?? []))]
    return runs.length === 0 ? [] : [{ row, runs }]
  })
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

/** Prefixes text that a spreadsheet would run as a formula; numbers stay numbers. */
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
        `\\caption{${latexText(`${title}. ${about.join(' ')}`)}}`,
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
    .replace(/×10\\\^\{\}(\d+)/g, '$\\times10^{$1}$')
    .replaceAll('×', '$\\times$')
    .replaceAll('→', '$\\to$')
    .replaceAll('−', '$-$')
}
