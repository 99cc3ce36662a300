// The part of WebAssembly's JavaScript interface that we use. TypeScript only ships it with the browser types, which
// would let browser globals into Node code.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>)
    readonly exports: Record<string, unknown>
  }
  class CompileError extends Error {}
}
