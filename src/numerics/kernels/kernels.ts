import { readFileSync } from 'node:fs'

type Pointer = number

type Rows = [rows: number, columns: number]
type Matrix = [data: Pointer, stride: number]
/** Rows of a matrix that are named by their numbers. */
type PickedRows = [data: Pointer, index: Pointer]
/** A list of row numbers for each row of the result. */
type Lists = [offsets: Pointer, members: Pointer]
type Moments = [first: Pointer, second: Pointer]
/** What attention pooling reads, and the weights that it leaves for its gradient. */
type Attention = [
  ...sizes: Rows,
  states: Pointer,
  ...members: Lists,
  ...keys: PickedRows,
  scale: number,
  weights: Pointer,
]

/** The exports of kernels.wasm; `assembly/` says what each does. Pointers are byte addresses, strides count floats. */
export interface Kernels {
  readonly memory: WebAssembly.Memory
  linear(
    ...call: [m: number, n: number, k: number, ...x: Matrix, ...w: Matrix, ...y: Matrix, accumulate: number]
  ): void
  product(...call: [m: number, n: number, k: number, ...x: Matrix, ...w: Matrix, ...y: Matrix]): void
  outer(...call: [m: number, n: number, k: number, ...y: Matrix, ...x: Matrix, ...w: Matrix]): void
  gelu(n: number, x: Pointer, y: Pointer, slope: Pointer): void
  multiplyAdd(n: number, a: Pointer, b: Pointer, out: Pointer): void
  layerNorm(...call: [...Rows, x: Pointer, weight: Pointer, bias: Pointer, y: Pointer, stats: Pointer]): void
  layerNormGradient(
    ...call: [
      ...[...Rows, x: Pointer, weight: Pointer, stats: Pointer],
      ...[dy: Pointer, dx: Pointer, dweight: Pointer, dbias: Pointer],
    ]
  ): void
  gruGates(...call: [...Rows, gi: Pointer, gh: Pointer, previous: Pointer, u: Pointer, gates: Pointer]): void
  gruGatesGradient(
    ...call: [
      ...[...Rows, gh: Pointer, previous: Pointer, gates: Pointer],
      ...[du: Pointer, dgi: Pointer, dgh: Pointer, dprevious: Pointer],
    ]
  ): void
  gatherAdd(...call: [...Rows, ...source: PickedRows, out: Pointer]): void
  scatterAdd(...call: [...Rows, ...source: PickedRows, out: Pointer]): void
  meanRows(...call: [...Rows, source: Pointer, ...Lists, out: Pointer]): void
  meanRowsGradient(...call: [...Rows, dout: Pointer, ...Lists, dsource: Pointer]): void
  multiplyRows(...call: [...Rows, ...a: PickedRows, ...b: PickedRows, out: Pointer]): void
  multiplyRowsGradient(
    ...call: [...Rows, ...a: PickedRows, ...b: PickedRows, dout: Pointer, da: Pointer, db: Pointer]
  ): void
  dotRows(...call: [...Rows, ...a: PickedRows, ...b: PickedRows, out: Pointer]): void
  dotRowsGradient(
    ...call: [...Rows, ...a: PickedRows, ...b: PickedRows, dout: Pointer, da: Pointer, db: Pointer]
  ): void
  attentionPool(...call: [...Attention, out: Pointer]): void
  attentionPoolGradient(...call: [...Attention, dout: Pointer, dstates: Pointer, dkeys: Pointer]): void
  adam(...call: [n: number, parameters: Pointer, gradients: Pointer, ...Moments, constants: Pointer]): void
  outerAdam(
    ...call: [
      ...[count: number, terms: Pointer, n: number, k: number, parameters: Pointer],
      ...[...Moments, scratch: Pointer, constants: Pointer],
    ]
  ): void
  largest(m: number, k: number, x: Pointer, ld: number): number
  allFinite(n: number, x: Pointer): number
  /** Whether a·b + c is rounded once; to be asked with 1 + 2⁻¹². */
  fuses(x: number): number
}

/**
 * How a·b + c is rounded: once, as processors with a fused multiply-add do (x86 since 2013, all 64-bit ARM), or twice.
 * Each gives the same bits wherever it runs, but not the bits of the other.
 */
export type Arithmetic = 'fused' | 'separate'

export const arithmetics: readonly Arithmetic[] = ['fused', 'separate']

export function kernelsFile(arithmetic: Arithmetic): URL {
  return new URL(`./kernels-${arithmetic}.wasm`, import.meta.url)
}

/** What this process computes with: fused where the processor fuses, unless MAGIC_ARITHMETIC says otherwise. */
export const arithmetic: Arithmetic = chooseArithmetic(process.env['MAGIC_ARITHMETIC'])

const modules = new Map<Arithmetic, WebAssembly.Module>()

/** A fresh instance with a memory of its own. A module is compiled once per process. */
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

/** On a processor that cannot fuse, the fused kernels would silently round twice: then they are not the fused ones. */
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
