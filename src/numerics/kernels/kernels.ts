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
    pairs: Pointer,
    n: number,
    k: number,
    ld: number,
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
}

let compiled: WebAssembly.Module | undefined

/** A fresh instance with a memory of its own. The module is compiled once per process. */
export function instantiateKernels(): Kernels {
  compiled ??= new WebAssembly.Module(readFileSync(new URL('./kernels.wasm', import.meta.url)))
  const abort = () => {
    throw new Error('A numeric kernel aborted.')
  }
  return new WebAssembly.Instance(compiled, { env: { abort } }).exports as unknown as Kernels
}
