import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { format, inspect } from 'node:util'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { ApiKey, readKeyFile, redactLikelyKeys } from './secret.ts'

const canary = 'sk-canary/0+1"2\\3&4=5'
const key = new ApiKey(canary, 'https://api.example.com')

test('prints as [redacted] everywhere', () => {
  const printed = [
    String(key),
    `${key}`,
    JSON.stringify({ key }),
    inspect({ deep: { key } }, { showHidden: true, depth: 9, customInspect: true }),
    inspect(key, { customInspect: false, showHidden: true }),
    format('%s %o %O %j', key, key, key, key),
    Object.entries(key).join(),
    new Error('x', { cause: key }).cause?.toString() ?? '',
  ]
  for (const text of printed) expect(text).not.toContain('canary')
  expect(JSON.stringify({ key })).toBe('{"key":"[redacted]"}')
})

test('is sent to its own origin only', () => {
  expect(key.bearerFor('https://api.example.com')).toBe(`Bearer ${canary}`)
  for (const origin of [
    'http://api.example.com',
    'https://api.example.com:444',
    'https://example.com',
    'null',
  ])
    expect(() => key.bearerFor(origin)).toThrow('does not go to')
})

describe('redaction', () => {
  test.each([
    ['raw', canary],
    ['JSON', JSON.stringify({ key: canary })],
    ['JSON with escaped slashes', JSON.stringify(canary).replaceAll('/', '\\/')],
    ['URL', `?key=${encodeURIComponent(canary)}&x`],
    ['URL in lower case', encodeURIComponent(canary).replace(/%../g, (byte) => byte.toLowerCase())],
    ['base64', Buffer.from(canary).toString('base64')],
    ['base64url', Buffer.from(canary).toString('base64url')],
  ])('%s', (_, text) => {
    const clean = key.redact(`before ${text} after`)
    expect(clean).toContain('[redacted]')
    expect(clean).toMatch(/^before .* after$/)
    for (const form of [canary, 'canary', encodeURIComponent(canary), Buffer.from(canary).toString('base64')])
      expect(clean).not.toContain(form)
  })

  test('a key inside nested JSON, at any depth and however escaped', () => {
    const escapes = [
      (text: string) => JSON.stringify(text).slice(1, -1),
      (text: string) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
      (text: string) =>
        JSON.stringify(text)
          .slice(1, -1)
          .replace(/[&<>'/+]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
    ]
    const nasty = fc.stringMatching(/^[!-~]{4,12}$/).map((text) => `${text}/"\\key"/\\\\${text}`)
    fc.assert(
      fc.property(nasty, fc.array(fc.constantFrom(...escapes), { maxLength: 4 }), (value, levels) => {
        const text = levels.reduce((inner, escaped) => escaped(inner), `{"said":"${value}"}`)
        const clean = new ApiKey(value, 'https://api.example.com').redact(`before ${text} after`)
        expect(clean).toMatch(/^before .*said.*\[redacted\].* after$/)
        let read = clean
        for (const _ of levels)
          read = read.replace(/\\(?:u(....)|(.))/g, (_all, hex, sign) =>
            hex === undefined ? sign : String.fromCharCode(Number.parseInt(hex, 16)),
          )
        expect(read).not.toContain(value)
        expect(read).not.toContain('key')
      }),
    )
  })

  test('base64 of a text that contains the key', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 9 }), fc.string({ maxLength: 9 }), (before, after) => {
        const encoded = Buffer.from(before + canary + after).toString('base64')
        const left = key.redact(encoded).split('[redacted]')
        expect(left.length).toBe(2)
      }),
    )
  })

  test('other texts are unchanged', () => {
    expect(key.redact('nothing to see in sk-other')).toBe('nothing to see in sk-other')
  })

  test('likely keys of others', () => {
    expect(redactLikelyKeys('Incorrect key: sk-proj-abcdefgh12345678, Bearer abc.def')).toBe(
      'Incorrect key: [redacted], [redacted]',
    )
    expect(redactLikelyKeys('a task-oriented model')).toBe('a task-oriented model')
  })
})

test.each(['', 'with space', 'line\nbreak', 'ümlaut'])('%j cannot be a key', (value) => {
  expect(() => new ApiKey(value, 'https://api.example.com')).toThrow('not allowed in a header')
})

describe('key files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'key-'))
  const path = join(folder, 'key')
  afterAll(() => rmSync(folder, { recursive: true }))

  test('are read when only the owner can read them', () => {
    writeFileSync(path, `${canary}\n`)
    chmodSync(path, 0o600)
    expect(readKeyFile(path)).toBe(canary)
    chmodSync(path, 0o400)
    expect(readKeyFile(path)).toBe(canary)
  })

  test.each([0o644, 0o640, 0o604, 0o660])('are refused at mode %o, with the remedy', (mode) => {
    chmodSync(path, mode)
    expect(() => readKeyFile(path)).toThrow(`chmod 600 ${path}`)
  })
})
