import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { magic } from '../../../test/magic.ts'

const folder = mkdtempSync(join(tmpdir(), 'magic-completion-'))
afterAll(() => rmSync(folder, { recursive: true }))

beforeAll(async () => {
  for (const shell of ['bash', 'zsh'])
    writeFileSync(join(folder, `magic.${shell}`), (await magic('completion', shell)).stdout)
  mkdirSync(join(folder, 'runs/first-run'), { recursive: true })
}, 300_000)

/** The completions bash offers after these words. */
function offered(...words: string[]): string[] {
  const script = `source ./magic.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _magic; printf '%s\\n' "\${COMPREPLY[@]}"`
  const output = execFileSync('bash', ['-c', script, 'bash', ...words], { cwd: folder, encoding: 'utf8' })
  return output.trim().split('\n')
}

test('bash completes commands, options, subcommands and runs', () => {
  expect(offered('magic', 'tr')).toEqual(['train'])
  expect(offered('magic', 'train', '--max-c')).toEqual(['--max-cost', '--max-calls'])
  expect(offered('magic', 'ask', 'fi')).toEqual(['first-run'])
  expect(offered('magic', 'data', 'im')).toEqual(['import'])
  expect(offered('magic', 'doctor', '--nonsense')).toEqual([''])
})

test('after an option bash completes its values, and files where any value or a file is meant', () => {
  expect(offered('magic', 'train', 'x.csv', '--scorer', '')).toEqual([
    ...['contains', 'regex', 'json-schema', 'judge'],
  ])
  expect(offered('magic', 'compare', 'first-run', '--list', 'l')).toEqual(['lost'])
  for (const words of [
    ['train', '--config', ''],
    ['train', ''],
    ['train', '--dry-run', ''],
    ['eval', '--junit', 'x'],
  ])
    expect(offered('magic', ...words)).toEqual([''])
})

const hasZsh = existsSync('/usr/bin/zsh') || existsSync('/bin/zsh')

/**
 * The completions zsh offers after these words: the lists our function passes to zsh's own functions, which
 * need a terminal.
 */
function offeredByZsh(...words: string[]): string[] {
  const script = `
    compdef() { print -r -- "set up: $*" }
    compinit() { print -r -- 'set up anew' }
    _describe() { local list="$@[-1]"; print -rl -- "\${(P@)list}" }
    compadd() { local list="$@[-1]"; print -rl -- "\${(P@)list}" }
    _files() { print files }
    source ./magic.zsh
    words=("$@"); CURRENT=$#
    _magic`
  return execFileSync('zsh', ['-f', '-c', script, 'zsh', ...words], { cwd: folder, encoding: 'utf8' })
    .trim()
    .split('\n')
}

test.skipIf(!hasZsh)("zsh completes the same words and leaves the user's completion setup alone", () => {
  const [first, ...commands] = offeredByZsh('magic', '')
  expect(first).toBe('set up: _magic magic')
  expect(commands).toContainEqual(expect.stringMatching(/^train:Learn how to organise agents/))
  expect(offeredByZsh('magic', 'train', '')).toContainEqual(expect.stringMatching(/^--max-cost:./))
  expect(offeredByZsh('magic', 'ask', '').slice(1, 2)).toEqual(['first-run'])
  expect(offeredByZsh('magic', 'data', '').slice(1, 5)).toEqual(['list', 'show', 'import', 'pull'])
  expect(offeredByZsh('magic', 'train', 'x').at(-1)).toBe('files')
  expect(offeredByZsh('magic', 'train', '--method', '').slice(1)).toEqual(['paper', 'values'])
  expect(offeredByZsh('magic', 'train', '--config', '').slice(1)).toEqual(['files'])
})

test('fish has its own script; unknown shells are refused', async () => {
  const { stdout } = await magic('completion', 'fish')
  expect(stdout).toMatch(/^complete -c magic -n __fish_use_subcommand -f -a train -d '.+'$/m)
  expect(stdout).toMatch(/^complete -c magic -n '__fish_seen_subcommand_from train' -l max-cost -r -d '.+'$/m)
  expect(stdout).toContain("train' -l scorer -x -a 'contains regex json-schema judge' -d")
  expect(await magic('completion', 'tcsh')).toMatchObject({ code: 2 })
}, 300_000)

test('`magic` alone says where to begin; help is grouped', async () => {
  const alone = await magic()
  expect(alone).toMatchObject({ code: 0, stderr: '' })
  expect(alone.stdout).toContain('magic demo --quick')
  expect((await magic('--help')).stdout).toMatch(/Start here:\n {2}demo[\s\S]+\nUse:\n {2}ask/)
  const { stdout } = await magic('train', '--help')
  for (const group of ['Tasks:', 'Training:', 'Budget:', 'Model:']) expect(stdout).toContain(`\n${group}\n`)
}, 300_000)
