// npm run build:kernels: compiles the AssemblyScript kernels to src/numerics/kernels/kernels.wasm, which is checked in
// so that users need no compiler; a test rebuilds it and compares the bytes.
import { writeFileSync } from 'node:fs'
import { compileKernels } from './compile-kernels.ts'

const target = new URL('../src/numerics/kernels/kernels.wasm', import.meta.url)
const binary = await compileKernels()
writeFileSync(target, binary)
console.log(`${target.pathname}: ${binary.length} bytes`)
