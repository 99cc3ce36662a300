import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { MiddlewareHandler } from 'hono'
import { Problem } from '../problem.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Serves the built pages from memory. A request's path is looked up, never opened as a file. */
export function frontEnd(folder: string): MiddlewareHandler {
  const files = new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [
        `/${relative(folder, path)}`,
        { body: readFileSync(path), type: types[extname(path)] },
      ]),
  )
  const index = files.get('/index.html')!
  return async (context) => {
    const { path } = context.req
    const file = files.get(path)
    // A built file gets another name when its content changes.
    if (file?.type !== undefined && path.startsWith('/assets/'))
      return context.body(file.body, 200, {
        'Content-Type': file.type,
        'Cache-Control': 'public, max-age=31536000, immutable',
      })
    if (file?.type !== undefined) return context.body(file.body, 200, { 'Content-Type': file.type })
    if (path.startsWith('/assets/') || extname(path) !== '')
      return context.text('There is nothing here.', 404)
    // All other paths are pages of the app.
    return context.body(index.body, 200, { 'Content-Type': index.type! })
  }
}

/** The folder of the built pages: the package's, or in a checkout one built from `view/`. */
export async function builtPages(): Promise<string> {
  const packaged = fileURLToPath(new URL('./pages', import.meta.url))
  if (existsSync(join(packaged, 'index.html'))) return packaged
  const root = fileURLToPath(new URL('../..', import.meta.url))
  if (!existsSync(join(root, 'view', 'index.html')))
    throw new Problem(
      'The pages of the dashboard are missing from this installation. Install the package again.',
    )
  // Built once per state of the sources. If several processes build at the same time, the first one to finish wins.
  const kept = join(root, 'node_modules', '.cache', 'magic-view', sourceDigest(root))
  if (existsSync(kept)) return kept
  const outDir = `${kept}.${process.pid}`
  // In a separate process, because Vite builds for production or development depending on the environment.
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  await promisify(execFile)(
    process.execPath,
    [vite, 'build', 'view', '--outDir', outDir, '--logLevel', 'error'],
    {
      cwd: root,
      env: { ...process.env, NODE_ENV: 'production' },
    },
  )
  try {
    renameSync(outDir, kept)
  } catch (error) {
    if (!existsSync(kept)) throw error
    rmSync(outDir, { recursive: true, force: true })
  }
  return kept
}

/** What the pages are built from. */
const sources = [
  'view/**/*.{html,css,ts,tsx,svg}',
  'src/view/plots/*',
  'src/cli/display/numbers.ts',
  'package-lock.json',
]

function sourceDigest(root: string): string {
  const digest = createHash('sha256')
  const files = globSync(sources, { cwd: root })
  for (const file of files.sort())
    digest
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0')
  return digest.digest('hex').slice(0, 16)
}
