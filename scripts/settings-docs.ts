// Writes the tables of docs/settings.md from the schemas in src/settings/: npm run docs:settings
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runSettings } from '../src/settings/run-settings.ts'
import { allowedText, type Setting, settingsOf } from '../src/settings/setting.ts'

const page = new URL('../docs/settings.md', import.meta.url)

const tables: Readonly<Record<string, readonly Setting[]>> = {
  training: settingsOf(runSettings.training),
  execution: settingsOf(runSettings.execution),
  budget: settingsOf(runSettings.budget),
  concurrency: settingsOf(runSettings.concurrency).map((setting) => ({ ...setting, key: 'concurrency' })),
}

/** The page with fresh tables. */
export function withTables(text: string): string {
  return Object.entries(tables).reduce((made, [name, settings]) => {
    const [start, end] = [`<!-- settings: ${name} -->\n`, '<!-- end -->']
    const [before, after] = made.split(start)
    if (after === undefined) throw new Error(`docs/settings.md has no block '${start.trim()}'.`)
    return `${before}${start}${table(settings)}${after.slice(after.indexOf(end))}`
  }, text)
}

function table(settings: readonly Setting[]): string {
  const rows = settings.map((setting) => {
    const usual = setting.default === undefined ? '' : `\`${setting.default}\``
    return `| \`${setting.key}\` | ${usual} | ${allowedText(setting)} | ${setting.description} |\n`
  })
  return `| setting | default | allowed | meaning |\n|---|---|---|---|\n${rows.join('')}`
}

export const settingsPage = readFileSync(page, 'utf8')

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, withTables(settingsPage))
