import { describe, expect, test } from 'vitest'
import { checkBaseURL } from './base-url.ts'

describe('allowed', () => {
  test.each([
    'https://api.deepseek.com',
    'https://192.168.1.5/v1',
    'http://localhost:8000/v1',
    'http://127.0.0.1:11434/v1',
    'http://127.8.8.8/',
    'http://0x7f.1/v1',
    'http://2130706433/',
    'http://[::1]:8080/v1',
  ])('%s', (url) => {
    expect(checkBaseURL(url).href).toBe(new URL(url).href)
  })
})

describe('only with the flag', () => {
  test.each([
    'http://api.deepseek.com',
    'http://192.168.1.5/v1',
    'http://127.0.0.1.example.com/',
    'http://localhost.example.com/',
    'http://169.254.169.254/latest',
    'https://169.254.169.254/latest',
    'https://0xa9fea9fe/',
    'https://[fe80::1]/',
    'https://[febf::1]/',
    'https://[::ffff:169.254.169.254]/',
  ])('%s', (url) => {
    expect(() => checkBaseURL(url)).toThrow('allowUnsafeBaseURL')
    expect(checkBaseURL(url, true).href).toBe(new URL(url).href)
  })
})

describe('never', () => {
  test.each([
    'api.deepseek.com',
    'file:///etc/passwd',
    'ftp://example.com',
    'https://example.com/?key=1',
    'https://example.com/#x',
    'https://user:secret@example.com/',
  ])('%s', (url) => {
    expect(() => checkBaseURL(url, true)).toThrow('cannot be used')
  })

  test.each([
    'https://user:secret@example.com/',
    'https://example.com/v1?key=secret',
    'https://example.com/v1/secret#secret',
    'example.com/v1?key=secret',
    'secret',
    'gopher://example.com/?key=secret',
  ])('%s is not echoed', (url) => {
    expect(() => checkBaseURL(url)).toThrow(/^(?!.*secret)/)
  })
})
