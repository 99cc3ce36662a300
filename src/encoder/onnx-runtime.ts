import type * as Ort from 'onnxruntime-web'
import { ifInstalled, MissingPackageError } from './optional-package.ts'

/** Opens ONNX models. Loading it costs some memory; opening a model costs as much again as the model. */
export interface OnnxRuntime {
  readonly name: (typeof packages)[number]
  readonly open: (model: Uint8Array) => Promise<OnnxModel>
}

export interface OnnxModel {
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  /** Runs the model on matrices of whole numbers; `rows` of them, all inputs of one shape. */
  readonly run: (inputs: Record<string, BigInt64Array>, rows: number) => Promise<Record<string, Ort.Tensor>>
}

// In order of preference: the first is five times as fast, the second installs everywhere.
const packages = ['onnxruntime-node', 'onnxruntime-web'] as const

/** The runtime that is installed; the native one if both are. */
export async function loadOnnxRuntime(): Promise<OnnxRuntime> {
  const native = await loadNative()
  if (native !== undefined) return runtimeOf('onnxruntime-node', native)
  const web = await ifInstalled(() => import('onnxruntime-web'))
  if (web === undefined) throw new MissingPackageError('The MiniLM encoder', packages)
  web.env.wasm.numThreads = 1
  return runtimeOf('onnxruntime-web', web)
}

/** Even when installed, its binaries may not run on this machine; the other runtime is used then. */
async function loadNative(): Promise<typeof Ort | undefined> {
  // Not a literal, or the compiler would require a package that most people do not have.
  const name: string = packages[0]
  try {
    return (await import(name)) as typeof Ort
  } catch {
    return undefined
  }
}

function runtimeOf(name: OnnxRuntime['name'], ort: typeof Ort): OnnxRuntime {
  return {
    name,
    open: async (model) => {
      const session = await ort.InferenceSession.create(model, {
        // One thread: vectors must not depend on the number of cores.
        intraOpNumThreads: 1,
        interOpNumThreads: 1,
        executionProviders: [name === 'onnxruntime-node' ? 'cpu' : 'wasm'],
        logSeverityLevel: 3,
      })
      const tensor = (values: BigInt64Array, rows: number) =>
        new ort.Tensor('int64', values, [rows, values.length / rows])
      return {
        inputs: session.inputNames,
        outputs: session.outputNames,
        run: (inputs, rows) =>
          session.run(
            Object.fromEntries(
              Object.entries(inputs).map(([input, values]) => [input, tensor(values, rows)]),
            ),
          ),
      }
    },
  }
}
