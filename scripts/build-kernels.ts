// npm run build:kernels: compiles the AssemblyScript kernels to WebAssembly, once with fused and once with separate
// arithmetic. The binaries are checked in so that users need no compiler; a test rebuilds them and compares the bytes.
import { writeFileSync } from 'node:fs'
import { arithmetics, kernelsFile } from '../src/numerics/kernels/kernels.ts'
import { compileKernels } from './compile-kernels.ts'

for (const arithmetic of arithmetics) {
  const binary = await compileKernels(arithmetic)
  writeFileSync(kernelsFile(arithmetic), binary)
  console.log(`${kernelsFile(arithmetic).pathname}: ${binary.length} bytes`)
}
