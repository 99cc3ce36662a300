import { readFileSync } from 'node:fs'
import asc from 'assemblyscript/asc'
import type { Arithmetic } from '../src/numerics/kernels/kernels.ts'

const sources = new URL('../src/numerics/kernels/assembly/', import.meta.url)

/** The kernels as a WebAssembly binary. The same sources give the same bytes. */
export async function compileKernels(arithmetic: Arithmetic): Promise<Uint8Array> {
  let binary: Uint8Array | undefined
  const { error, stderr } = await asc.main(
    // No runtime: the kernels own no memory.
    [
      'index.ts',
      '--outFile',
      'kernels.wasm',
      '-O3',
      '--noAssert',
      '--runtime',
      'stub',
      '--enable',
      'simd',
      ...(arithmetic === 'fused' ? ['--enable', 'relaxed-simd'] : []),
      '--disable',
      'mutable-globals',
    ],
    {
      readFile: (name) => {
        try {
          return readFileSync(new URL(name, sources), 'utf8')
        } catch {
          return null
        }
      },
      writeFile: (_name, contents) => {
        binary = contents as Uint8Array
      },
      listFiles: () => [],
    },
  )
  if (error || binary === undefined) throw new Error(`The kernels do not compile:\n${stderr.toString()}`)
  return binary
}
