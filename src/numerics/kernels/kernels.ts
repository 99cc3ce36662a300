import { readFileSync } from 'node:fs'

type Pointer = number

/** The exports of kernels.wasm; `assembly/` says what each does. Pointers are byte addresses, strides count floats. */
export interface Kernels {
  readonly memory: WebAssembly.Memory
  linear(
    m: number,
    n: number,
    k: number,
    x: Pointer,
    ldx: number,
    w: Pointer,
    ldw: number,
    y: Pointer,
    ldy: number,
    accumulate: number,
  ): void
  product(
    m: number,
    n: number,
    k: number,
    x: Pointer,
    ldx: number,
    w: Pointer,
    ldw: number,
    y: Pointer,
    ldy: number,
  ): void
  outer(
    m: number,
    n: number,
    k: number,
    y: Pointer,
    ldy: number,
    x: Pointer,
    ldx: number,
    w: Pointer,
    ldw: number,
  ): void
  gelu(n: number, x: Pointer, y: Pointer, slope: Pointer): void
  multiplyAdd(n: number, a: Pointer, b: Pointer, out: Pointer): void
  layerNorm(
    m: number,
    h: number,
    x: Pointer,
    weight: Pointer,
    bias: Pointer,
    y: Pointer,
    stats: Pointer,
  ): void
  layerNormGradient(
    m: number,
    h: number,
    x: Pointer,
    weight: Pointer,
    stats: Pointer,
    dy: Pointer,
    dx: Pointer,
    dweight: Pointer,
    dbias: Pointer,
  ): void
  gruGates(
    m: number,
    h: number,
    gi: Pointer,
    gh: Pointer,
    previous: Pointer,
    u: Pointer,
    gates: Pointer,
  ): void
  gruGatesGradient(
    m: number,
    h: number,
    gh: Pointer,
    previous: Pointer,
    gates: Pointer,
    du: Pointer,
    dgi: Pointer,
    dgh: Pointer,
    dprevious: Pointer,
  ): void
  gatherAdd(m: number, h: number, source: Pointer, index: Pointer, out: Pointer): void
  scatterAdd(m: number, h: number, source: Pointer, index: Pointer, out: Pointer): void
  meanRows(m: number, h: number, source: Pointer, offsets: Pointer, members: Pointer, out: Pointer): void
  meanRowsGradient(
    m: number,
    h: number,
    dout: Pointer,
    offsets: Pointer,
    members: Pointer,
    dsource: Pointer,
  ): void
  multiplyRows(m: number, h: number, a: Pointer, ia: Pointer, b: Pointer, ib: Pointer, out: Pointer): void
  multiplyRowsGradient(
    m: number,
    h: number,
    a: Pointer,
    ia: Pointer,
    b: Pointer,
    ib: Pointer,
    dout: Pointer,
    da: Pointer,
    db: Pointer,
  ): void
  dotRows(m: number, h: number, a: Pointer, ia: Pointer, b: Pointer, ib: Pointer, out: Pointer): void
  dotRowsGradient(
    m: number,
    h: number,
    a: Pointer,
    ia: Pointer,
    b: Pointer,
    ib: Pointer,
    dout: Pointer,
    da: Pointer,
    db: Pointer,
  ): void
  attentionPool(
    decisions: number,
    h: number,
    states: Pointer,
    offsets: Pointer,
    members: Pointer,
    keys: Pointer,
    keyIndex: Pointer,
    scale: number,
    weights: Pointer,
    out: Pointer,
  ): void
  attentionPoolGradient(
    decisions: number,
    h: number,
    states: Pointer,
    offsets: Pointer,
    members: Pointer,
    keys: Pointer,
    keyIndex: Pointer,
    scale: number,
    weights: Pointer,
    dout: Pointer,
    dstates: Pointer,
    dkeys: Pointer,
  ): void
  adam(
    n: number,
    parameters: Pointer,
    gradients: Pointer,
    first: Pointer,
    second: Pointer,
    beta1: number,
    oneMinusBeta1: number,
    beta2: number,
    oneMinusBeta2: number,
    stepSize: number,
    rootCorrection: number,
    epsilon: number,
  ): void
  outerAdam(
    count: number,
    terms: Pointer,
    n: number,
    k: number,
    parameters: Pointer,
    first: Pointer,
    second: Pointer,
    scratch: Pointer,
    beta1: number,
    oneMinusBeta1: number,
    beta2: number,
    oneMinusBeta2: number,
    stepSize: number,
    rootCorrection: number,
    epsilon: number,
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
