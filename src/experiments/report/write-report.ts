import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeWhole } from '../../store/durable-file.ts'
import { csv, latex, markdown } from './formats.ts'
import { html } from './html.ts'
import { plot } from './plot.ts'
import { png } from './png.ts'
import { drawnSvg } from './svg.ts'
import type { ExperimentResult } from './tables.ts'

const tableFile = 'table.json'

/** Writes `table.json` and, from its content, the reports and figures. Returns the file names. */
export function writeReport(folder: string, result: ExperimentResult): string[] {
  writeWhole(join(folder, tableFile), `${JSON.stringify(result, null, 1)}\n`)
  const stored = JSON.parse(readFileSync(join(folder, tableFile), 'utf8')) as ExperimentResult
  const files: [name: string, content: string | Buffer][] = [
    ['report.md', markdown(stored)],
    ['report.csv', csv(stored)],
    ['report.tex', latex(stored)],
    ['report.html', html(stored)],
    ...stored.figures.flatMap((figure): [string, string | Buffer][] => {
      const title = stored.simulated ? `${figure.title} (simulated)` : figure.title
      const drawing = plot({ ...figure, title })
      return [
        [`${figure.id}.svg`, drawnSvg(drawing)],
        [`${figure.id}.png`, png(drawing)],
      ]
    }),
  ]
  for (const [name, content] of files) writeWhole(join(folder, name), content)
  return [tableFile, ...files.map(([name]) => name)]
}
