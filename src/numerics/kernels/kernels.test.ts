import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compileKernels } from '../../../scripts/compile-kernels.ts'
import { instructionsOf, isRelaxedSimd, isSimd } from '../../../test/wasm-instructions.ts'
import { type Arithmetic, arithmetic, arithmetics, instantiateKernels, kernelsFile } from './kernels.ts'

const binaryOf = (arithmetic: Arithmetic) => readFileSync(kernelsFile(arithmetic))

test.each(arithmetics)('the %s kernels match their compiled sources', async (kind) => {
  const fresh = Buffer.from(await compileKernels(kind))
  expect(fresh.equals(binaryOf(kind)), 'run `npm run build:kernels` after a change to the sources').toBe(true)
})

test('the separate kernels use vector instructions, but no relaxed ones', () => {
  const opcodes = [...instructionsOf(binaryOf('separate'))]
  expect(opcodes.filter(isRelaxedSimd)).toEqual([])
  expect(opcodes.filter(isSimd).length).toBeGreaterThan(10)
})

test('the fused kernels use one relaxed instruction, the multiply-add', () => {
  expect([...instructionsOf(binaryOf('fused'))].filter(isRelaxedSimd)).toEqual([0xfd0105])
})

test('this process uses the arithmetic of its processor', () => {
  const asked = 1 + 2 ** -12
  expect(instantiateKernels('separate').fuses(asked)).toBe(0)
  expect(instantiateKernels(arithmetic).fuses(asked)).toBe(arithmetic === 'fused' ? 1 : 0)
})

test.each([
  ['separate', 'separate'],
  ['', arithmetic],
])('MAGIC_ARITHMETIC=%j gives %s kernels', (given, expected) => {
  const code = `import { arithmetic } from ${JSON.stringify(new URL('./kernels.ts', import.meta.url).href)}; console.log(arithmetic)`
  const env = { ...process.env, MAGIC_ARITHMETIC: given }
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    env,
    encoding: 'utf8',
  })
  expect(printed.trim()).toBe(expected)
})

test('a relaxed instruction would be detected', () => {
  // One function without locals: three v128 constants, f32x4.relaxed_madd (fd 105), drop, end.
  const vector = [0xfd, 12, ...new Array<number>(16).fill(0)]
  const body = [0, ...vector, ...vector, ...vector, 0xfd, 0x85, 0x02, 0x1a, 0x0b]
  const code = [1, body.length, ...body]
  const module = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 10, code.length, ...code]
  expect([...instructionsOf(Uint8Array.from(module))].filter(isRelaxedSimd)).toEqual([0xfd0105])
})
