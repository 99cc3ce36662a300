// Writes docs/api.md from the public declarations and their comments: npm run docs:api
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildTypes } from './build-types.ts'

/** The extractor's format. */
interface ApiItem {
  readonly kind: string
  readonly name?: string
  readonly docComment?: string
  readonly excerptTokens?: readonly { readonly text: string }[]
  readonly fileUrlPath?: string
  readonly members?: readonly ApiItem[]
}

const page = new URL('../docs/api.md', import.meta.url)

const introduction = `# API reference

Every public name of \`magic-agents\`, by the folder of \`src/\` that it comes from. Made from the sources by \`npm run docs:api\`. What is
not here may change without notice.
`

export const apiPage = () => readFileSync(page, 'utf8')

/** Makes the page from the data that `buildTypes` writes. */
export function makeApiPage(model: string): string {
  const { members } = JSON.parse(readFileSync(model, 'utf8')) as ApiItem
  const rooms = Map.groupBy(members?.[0]?.members ?? [], roomOf)
  const sections = [...rooms.keys()].sort().map((room) => {
    const entries = rooms.get(room)!.toSorted((a, b) => (a.name! < b.name! ? -1 : 1))
    return `\n## ${room}\n${entries.map(entry).join('')}`
  })
  return `${introduction}${sections.join('')}`
}

/** The folder of `src/` an item comes from. */
function roomOf({ fileUrlPath = '' }: ApiItem): string {
  const [, ...path] = fileUrlPath.replace(/^build\//, '').split('/')
  return path.length > 1 ? path[0]! : 'general'
}

function entry(item: ApiItem): string {
  const comment = commentOf(item)
  return `\n### ${item.name}\n\n${comment === '' ? '' : `${comment}\n\n`}\`\`\`ts\n${declaration(item)}\n\`\`\`\n`
}

function declaration(item: ApiItem): string {
  const head = excerpt(item).replace(/^export (?:declare )?/, '')
  // Protected members are for our own sources only.
  const members = (item.members ?? []).filter(
    (member) => member.kind !== 'Constructor' && !excerpt(member).startsWith('protected '),
  )
  if (item.kind !== 'Interface' && item.kind !== 'Class') return shortened(head)
  const lines = members.map((member) => {
    const comment = commentOf(member).split('\n\n')[0]!.replaceAll('\n', ' ')
    return `${comment === '' ? '' : `  // ${comment}\n`}  ${shortened(excerpt(member)).replaceAll('\n', '\n  ')}`
  })
  return `${head} {\n${lines.join('\n')}\n}`
}

function excerpt({ excerptTokens = [] }: ApiItem): string {
  return excerptTokens
    .map(({ text }) => text)
    .join('')
    .trim()
}

/** Types inferred from schemas are long, and the settings' tables describe them. */
function shortened(text: string): string {
  return text.length <= 600 || !text.includes('z.Zod') ? text : `${text.slice(0, text.indexOf('<') + 1)}…>`
}

function commentOf({ docComment = '' }: ApiItem): string {
  return docComment
    .replace(/^\/\*\*|\*\/\s*$/g, '')
    .replace(/^ *\* ?/gm, '')
    .replace(/@example\n([\s\S]*)$/, (_, code: string) => `\`\`\`ts\n${code.trim()}\n\`\`\``)
    .trim()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = mkdtempSync(join(tmpdir(), 'magic-api-'))
  const model = join(folder, 'api.json')
  buildTypes({ model })
  writeFileSync(page, makeApiPage(model))
  rmSync(folder, { recursive: true })
}
