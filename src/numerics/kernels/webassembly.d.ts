// The part of WebAssembly's JavaScript interface that we use. TypeScript ships it only with the browser's types,
// which would let browser globals into code that runs on Node.
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
