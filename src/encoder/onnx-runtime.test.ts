import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** What is loaded, in a process of its own in which some packages are not installed or broken. */
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

test.each([absent, 'ERR_DLOPEN_FAILED'])('the native one missing (%s): the other is taken', (code) => {
  expect(loadWith({ 'onnxruntime-node': code })).toBe('onnxruntime-web')
})

test('none: the message says what to install', () => {
  expect(loadWith({ 'onnxruntime-node': absent, 'onnxruntime-web': absent })).toBe(
    'The MiniLM encoder needs onnxruntime-node or onnxruntime-web, an optional package: npm install onnxruntime-web',
  )
})

test('a fault of the package itself is not taken for its absence', () => {
  expect(loadWith({ 'onnxruntime-node': absent, 'onnxruntime-web': 'ERR_OTHER' })).toBe(
    'onnxruntime-web fails',
  )
})
