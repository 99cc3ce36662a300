import type { Engine } from './engine.ts'
import { levelsOf, type PeerNode, peerNodes } from './peer-nodes.ts'
import { importPeer } from './peer-packages.ts'

/** The parts of `@mastra/core/workflows` and its zod that we use. */
interface Mastra {
  readonly z: { any(): object }
  createStep(step: {
    id: string
    inputSchema: object
    outputSchema: object
    execute: (context: { getStepResult(id: string): string }) => Promise<string>
  }): object
  createWorkflow(workflow: {
    id: string
    inputSchema: object
    outputSchema: object
    options: { validateInputs: boolean; shouldPersistSnapshot: () => boolean }
  }): Workflow
}

interface Workflow {
  then(step: object): Workflow
  parallel(steps: object[]): Workflow
  commit(): { createRun(): Promise<{ start(input: { inputData: object }): Promise<RunResult> }> }
}

interface RunResult {
  readonly status: string
  readonly result?: unknown
}

/** Level by level, without validation and snapshots, which was fastest for Mastra. */
export async function mastraEngine(peerFolder: string): Promise<Engine> {
  const mastra = (await importPeer(peerFolder, 'mastra')) as Mastra
  return {
    prepare: (graph, model) => {
      const workflow = commit(mastra, peerNodes(graph, model))
      return async () => (await workflow.createRun()).start({ inputData: {} })
    },
    answerOf: (result) => (result as RunResult).result,
  }
}

function commit({ z, createStep, createWorkflow }: Mastra, nodes: readonly PeerNode[]) {
  const schemas = { inputSchema: z.any(), outputSchema: z.any() }
  const steps = nodes.map(({ id, predecessors, run }) => {
    const heard = predecessors.map((predecessor) => nodes[predecessor]!.id)
    return createStep({ id, ...schemas, execute: ({ getStepResult }) => run(heard.map(getStepResult)) })
  })
  const options = { validateInputs: false, shouldPersistSnapshot: () => false }
  let workflow = createWorkflow({ id: 'graph', ...schemas, options })
  for (const level of levelsOf(nodes)) {
    const [first, ...others] = level.map((node) => steps[node]!)
    workflow = others.length === 0 ? workflow.then(first!) : workflow.parallel([first!, ...others])
  }
  return workflow.commit()
}
