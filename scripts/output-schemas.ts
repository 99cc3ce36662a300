// The output of `--json` per command, from which `npm run docs:schemas` writes docs/schemas/*.json. Fields may be added but not
// removed. test/cli/output-schemas.test.ts checks that every command has a schema and that its output matches.
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { resultsSchemas } from './schemas/results.ts'
import { trainingSchemas } from './schemas/training.ts'
import { useSchemas } from './schemas/use.ts'

/** By the words of a command, joined by hyphens; `show` prints three things. */
export const outputSchemas: Readonly<Record<string, z.ZodType>> = {
  ...trainingSchemas,
  ...resultsSchemas,
  ...useSchemas,
}

/** Titles of schemas whose name does not say enough. */
const titles: Readonly<Record<string, string>> = {
  'show-runs': 'magic show --json',
  show: 'magic show RUN --json',
  'show-question': 'magic show RUN --question ID --json',
  'experiment-plan': 'magic experiment NAME --dry-run --json',
  'eval-plan': 'magic eval RUN|TASKS --dry-run --json',
}

/** Each schema's file with its text. */
export function schemaFiles(): { readonly file: URL; readonly text: string }[] {
  return Object.entries(outputSchemas).map(([name, schema]) => {
    const title = titles[name] ?? `magic ${name.replace('-', ' ')} --json`
    return {
      file: new URL(`../docs/schemas/${name}.json`, import.meta.url),
      text: `${JSON.stringify({ title, ...z.toJSONSchema(schema) }, null, 2)}\n`,
    }
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(new URL('../docs/schemas/', import.meta.url), { recursive: true })
  for (const { file, text } of schemaFiles()) writeFileSync(file, text)
}
