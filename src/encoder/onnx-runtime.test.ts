import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** What gets loaded in a separate process where some packages are missing or broken. */
function loadWith(failures: Record<string, string>): string {
  const module = JSON.stringify(new URL('./onnx-runtime.ts', import.meta.url).href)
  const script = `
    import { registerHooks } from 'node:module'
    const failures = ${JSON.stringify(failures)}
    registerHooks({ resolve(name, context, next) {
      if (!(name in failures)) return next(name, context)
      throw Object.assign(new Error(name + ' fails'), { code: failures[name] })
    } })
    const { loadOnnxRuntime } = await import(${module})
    console.log(await loadOnnxRuntime().then(({ name }) => name, ({ message }) => message))`
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).trim()
}

const absent = 'ERR_MODULE_NOT_FOUND'

test.each([absent, 'ERR_DLOPEN_FAILED'])(
  'falls back to the other runtime when the native one is missing (%s)',
  (code) => {
    expect(loadWith({ 'onnxruntime-node': code })).toBe('onnxruntime-web')
  },
)

test('without any runtime the message says what to install', () => {
  expect(loadWith({ 'onnxruntime-node': absent, 'onnxruntime-web': absent })).toBe(
    'The MiniLM encoder needs onnxruntime-node or onnxruntime-web, an optional package: npm install onnxruntime-web',
  )
})

test('an error inside the package is not mistaken for a missing package', () => {
  expect(loadWith({ 'onnxruntime-node': absent, 'onnxruntime-web': 'ERR_OTHER' })).toBe(
    'onnxruntime-web fails',
  )
})
