import type { CaseResult, KindRunner } from './case.ts'

/** Imported on demand: scoring tables needs neither the policy's kernels nor a sandbox. */
export const kinds = {
  policy: async () => (await import('./policy.ts')).runPolicyCases,
  protocol: async () => (await import('./protocol.ts')).runProtocolCases,
  sampling: async () => (await import('./sampling.ts')).runSamplingCases,
  scoring: async () => (await import('./scoring.ts')).runScoringCases,
  code: async () => (await import('./code.ts')).runCodeCases,
  encoder: async () => (await import('./encoder.ts')).runEncoderCases,
  experiments: async () => (await import('./experiments.ts')).runExperimentCases,
} satisfies Record<string, () => Promise<KindRunner>>

export type Kind = keyof typeof kinds

export async function* runKind(kind: Kind, folder: string): AsyncGenerator<CaseResult> {
  const run = await kinds[kind]()
  yield* run(folder)
}
