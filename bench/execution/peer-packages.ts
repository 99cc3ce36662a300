import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Exact versions, so that figures can be compared. */
const packages = {
  '@langchain/langgraph': '1.4.18',
  '@langchain/core': '1.2.13',
  '@mastra/core': '1.71.0',
  zod: '4.6.7',
}

/** Files beside the installed packages, from which Node resolves them. */
const entries = {
  langgraph: `export { Annotation, END, START, StateGraph } from '@langchain/langgraph'\n`,
  mastra: `export { createStep, createWorkflow } from '@mastra/core/workflows'\nexport { z } from 'zod'\n`,
}

/** Peers are not our dependencies: they are installed into the user's cache if missing. */
export function ensurePeers(say: (line: string) => void): {
  folder: string
  versions: Record<string, string>
} {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const folder = join(cache, 'magic', 'bench-peers')
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(entries)) writeFileSync(join(folder, `${name}.mjs`), text)
  if (!isInstalled(folder)) {
    say(`installing LangGraph.js and Mastra into ${folder} …`)
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    const named = Object.entries(packages).map(([name, version]) => `${name}@${version}`)
    const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder]
    execFileSync('npm', ['install', ...options, ...named], { stdio: ['ignore', 'ignore', 'inherit'] })
    if (!isInstalled(folder)) throw new Error(`npm did not install ${named.join(', ')} into ${folder}.`)
  }
  return { folder, versions: packages }
}

function isInstalled(folder: string): boolean {
  return Object.entries(packages).every(([name, version]) => {
    try {
      const manifest = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')
      return JSON.parse(manifest).version === version
    } catch {
      return false
    }
  })
}

export function importPeer(folder: string, name: keyof typeof entries): Promise<unknown> {
  return import(pathToFileURL(join(folder, `${name}.mjs`)).href)
}
