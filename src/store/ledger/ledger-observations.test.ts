import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { fitting, ScriptedModel, toolRequest } from '../../../test/scripted-model.ts'
import { tinyLibrary, tinyProfile } from '../../../test/tiny-library.ts'
import { executeGraph } from '../../execution/execute-graph.ts'
import { rememberTools } from '../../execution/remembered-tools.ts'
import { openToolbox, type Toolbox } from '../../execution/toolbox.ts'
import type { Tool } from '../../execution/tools/tool.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { freeText } from '../../library/answer-contract.ts'
import { ledgerObservations } from './ledger-observations.ts'
import { LedgerRequestCache } from './ledger-request-cache.ts'
import { SqliteLedger } from './sqlite.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-observations-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Nobody sees the same twice. */
const dice: Tool = {
  name: 'calculator',
  description: 'throws dice',
  payload: z.object({}),
  run: async () => ({ status: 'ok', result: { thrown: randomUUID() } }),
}

const graph = AgentGraph.of([{ role: 'c', realization: 'atomic', predecessors: [] }])

/** One process of a run: it opens the ledger, executes the graph, and ends. */
async function process(box: (plain: Toolbox, ledger: SqliteLedger) => Toolbox) {
  const ledger = await SqliteLedger.open(join(folder, 'ledger.sqlite'))
  const cache = new LedgerRequestCache(ledger)
  const model = new ScriptedModel((heard) =>
    heard.message.tools === undefined
      ? fitting(heard, 'x', JSON.stringify(heard.message))
      : toolRequest('calculator', {}),
  )
  const { answer } = await executeGraph({
    graph,
    task: { id: 't', question: 'What?', metadata: {} },
    library: tinyLibrary,
    profile: tinyProfile,
    contract: freeText,
    model,
    cache,
    tools: box(openToolbox(undefined, [dice]), ledger),
  })
  await ledger.close()
  return { answer, made: cache.made.calls, reused: cache.reused.calls }
}

test('a run that is resumed observes what it observed, and asks nothing again', async () => {
  const remembering = () => process((plain, ledger) => rememberTools(plain, ledgerObservations(ledger)))
  const first = await remembering()
  expect(first).toMatchObject({ made: 3, reused: 0 })
  expect(await remembering()).toEqual({ answer: first.answer, made: 0, reused: 3 })
})

test('without a memory it would go another way', async () => {
  const first = await process((plain) => plain)
  const second = await process((plain) => plain)
  expect(second).toMatchObject({ made: 2, reused: 1 })
  expect(second.answer).not.toEqual(first.answer)
})
