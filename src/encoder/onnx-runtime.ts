import type * as Ort from 'onnxruntime-web'
import { requirePackage } from '../optional-package.ts'

/** Loading it costs some memory; opening a model costs as much as the model itself. */
export interface OnnxRuntime {
  readonly name: (typeof packages)[number]
  readonly ort: typeof Ort
}

// In order of preference: the first is five times as fast; the second can be installed everywhere.
const packages = ['onnxruntime-node', 'onnxruntime-web'] as const

/** The installed runtime; the native one if both are. */
export async function loadOnnxRuntime(): Promise<OnnxRuntime> {
  // Not a literal, or the compiler would require a package most people do not have.
  const native: string = packages[0]
  try {
    return { name: packages[0], ort: (await import(native)) as typeof Ort }
  } catch {
    // Even if installed, its binaries may not run on this machine.
    const ort = await requirePackage('The MiniLM encoder', packages, () => import('onnxruntime-web'))
    ort.env.wasm.numThreads = 1
    return { name: packages[1], ort }
  }
}

export function openOnnxModel({ name, ort }: OnnxRuntime, model: Uint8Array): Promise<Ort.InferenceSession> {
  return ort.InferenceSession.create(model, {
    // One thread: vectors must not depend on the number of cores.
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionProviders: [name === 'onnxruntime-node' ? 'cpu' : 'wasm'],
    logSeverityLevel: 3,
  })
}
