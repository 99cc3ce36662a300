import { executeGraph } from '../../src/execution/execute-graph.ts'
import type { Execution } from '../../src/execution/execution.ts'
import { paperLibrary } from '../../src/library/paper-library/paper-library.ts'
import { CallLimit } from '../../src/models/call-limit.ts'
import type { Engine } from './engine.ts'
import { contract, profile, task } from './shapes.ts'

const noLimit = new CallLimit(Number.MAX_SAFE_INTEGER)

/** Our engine with its defaults: checks, accounting, deadlines, and a trace with every request and reply. */
export const magicEngine: Engine = {
  prepare: (graph, model) => {
    const options = { graph, task, library: paperLibrary, profile, contract, model, limit: noLimit }
    return () => executeGraph(options)
  },
  answerOf: (result) => (result as Execution).answer,
}
