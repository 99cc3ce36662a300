import { readFileSync } from 'node:fs'

type Numbers<Count extends number, Known extends number[] = []> = Known['length'] extends Count
  ? Known
  : Numbers<Count, [...Known, number]>

/** A kernel with `Count` numeric arguments: sizes, byte addresses, strides in floats. Documented in `assembly/`. */
type Kernel<Count extends number> = (...values: Numbers<Count>) => void

/** The exports of the WebAssembly module. */
export interface Kernels {
  /** A `WebAssembly.Memory`, whose type is not available everywhere these declarations are used. */
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number }
  linear: Kernel<10>
  product: Kernel<9>
  outer: Kernel<9>
  gelu: Kernel<4>
  multiplyAdd: Kernel<4>
  layerNorm: Kernel<7>
  layerNormGradient: Kernel<9>
  gruGates: Kernel<7>
  gruGatesGradient: Kernel<9>
  gatherAdd: Kernel<5>
  scatterAdd: Kernel<5>
  meanRows: Kernel<6>
  meanRowsGradient: Kernel<6>
  multiplyRows: Kernel<7>
  multiplyRowsGradient: Kernel<9>
  dotRows: Kernel<7>
  dotRowsGradient: Kernel<9>
  attentionPool: Kernel<10>
  attentionPoolGradient: Kernel<12>
  adam: Kernel<6>
  outerAdam: Kernel<9>
  largest(m: number, k: number, x: number, ld: number): number
  allFinite(n: number, x: number): number
  /** Whether a·b + c is rounded once; call it with 1 + 2⁻¹². */
  fuses(x: number): number
}

/**
 * How a·b + c is rounded: once, on processors with fused multiply-add (x86 since 2013, all 64-bit ARM), or twice.
 * Each gives the same bits everywhere, but not the bits of the other.
 */
export type Arithmetic = 'fused' | 'separate'

export const arithmetics: readonly Arithmetic[] = ['fused', 'separate']

export function kernelsFile(arithmetic: Arithmetic): URL {
  return new URL(`./kernels-${arithmetic}.wasm`, import.meta.url)
}

/** The arithmetic of this process: fused if the processor supports it, unless MAGIC_ARITHMETIC says otherwise. */
export const arithmetic: Arithmetic = chooseArithmetic(process.env['MAGIC_ARITHMETIC'])

const modules = new Map<Arithmetic, WebAssembly.Module>()

/** A fresh instance with its own memory. The module is compiled once per process. */
export function instantiateKernels(chosen: Arithmetic = arithmetic): Kernels {
  const module = modules.get(chosen) ?? new WebAssembly.Module(readFileSync(kernelsFile(chosen)))
  modules.set(chosen, module)
  return instantiate(module)
}

function instantiate(module: WebAssembly.Module): Kernels {
  const abort = () => {
    throw new Error('A numeric kernel aborted.')
  }
  return new WebAssembly.Instance(module, { env: { abort } }).exports as unknown as Kernels
}

/** On a processor without fused multiply-add, the fused kernels would silently round twice. */
function chooseArithmetic(wanted: string | undefined): Arithmetic {
  if (wanted === 'separate') return 'separate'
  const fuses = canFuse()
  if (wanted === 'fused' && !fuses) {
    throw new Error(
      'MAGIC_ARITHMETIC is fused, but this processor or Node version has no fused multiply-add.',
    )
  }
  if (wanted !== undefined && wanted !== '' && wanted !== 'fused') {
    throw new Error(`MAGIC_ARITHMETIC is '${wanted}'; it may be fused or separate.`)
  }
  return fuses ? 'fused' : 'separate'
}

function canFuse(): boolean {
  try {
    return instantiate(new WebAssembly.Module(readFileSync(kernelsFile('fused')))).fuses(1 + 2 ** -12) !== 0
  } catch (error) {
    if (error instanceof WebAssembly.CompileError) return false
    throw error
  }
}
