import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compileKernels } from '../../../scripts/compile-kernels.ts'
import { instructionsOf, isRelaxedSimd, isSimd } from '../../../test/wasm-instructions.ts'

const binary = readFileSync(new URL('./kernels.wasm', import.meta.url))

test('is what the sources compile to', async () => {
  const fresh = Buffer.from(await compileKernels())
  expect(fresh.equals(binary), 'run `npm run build:kernels` after a change to the sources').toBe(true)
})

test('has vector instructions, but no relaxed ones', () => {
  const opcodes = [...instructionsOf(binary)]
  expect(opcodes.filter(isRelaxedSimd)).toEqual([])
  expect(opcodes.filter(isSimd).length).toBeGreaterThan(10)
})

test('would show a relaxed instruction', () => {
  // One function of no locals: three v128 constants, f32x4.relaxed_madd (fd 105), drop, end.
  const vector = [0xfd, 12, ...new Array<number>(16).fill(0)]
  const body = [0, ...vector, ...vector, ...vector, 0xfd, 0x85, 0x02, 0x1a, 0x0b]
  const code = [1, body.length, ...body]
  const module = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 10, code.length, ...code]
  expect([...instructionsOf(Uint8Array.from(module))].filter(isRelaxedSimd)).toEqual([0xfd0105])
})
