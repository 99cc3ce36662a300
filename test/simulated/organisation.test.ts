import { beforeAll, describe, expect, test } from 'vitest'
import { emptyToolbox } from '../../src/execution/toolbox.ts'
import { AgentGraph } from '../../src/graph/agent-graph.ts'
import { hardnessOf } from '../../src/simulator/model/hardness.ts'
import { type QuestionKind, questionKinds } from '../../src/simulator/model/question-kind.ts'
import { SimulatedModel } from '../../src/simulator/model/simulator.ts'
import { graphOf, runOrganisation } from './organisation.ts'
import { contractOf, questions } from './questions.ts'

// The documented competence model seen from outside: real graphs, run by the real executor. Nothing here is
// random, since the same request gets the same answer; margins are well within what other seeds give.
const count = 400

interface Score {
  readonly right: number
  readonly tokens: number
}

/** Share of right answers, and tokens per question. */
async function scoreOf(
  kind: QuestionKind,
  graph: AgentGraph,
  only: (hardness: number) => boolean = () => true,
  tools?: typeof emptyToolbox,
): Promise<Score> {
  const known = questions(kind, count).filter(({ task }) => only(hardnessOf(task)))
  const model = new SimulatedModel({ tasks: known, seed: 1 })
  let right = 0
  let tokens = 0
  for (const one of known) {
    const run = await runOrganisation(model, graph, one, contractOf[kind], tools)
    expect(run.execution.failures).toEqual([])
    if (run.right) right += 1
    tokens += run.execution.usage.input + run.execution.usage.output
  }
  return { right: right / known.length, tokens: tokens / known.length }
}

const hard = (hardness: number): boolean => hardness > 0
const easy = (hardness: number): boolean => hardness < 0

test('easy questions are answered correctly more often than hard ones', async () => {
  for (const kind of questionKinds) {
    const [easier, harder] = [
      await scoreOf(kind, AgentGraph.empty, easy),
      await scoreOf(kind, AgentGraph.empty, hard),
    ]
    expect(easier.right, kind).toBeGreaterThan(harder.right + 0.15)
  }
})

describe('roles', () => {
  const suited: Record<QuestionKind, string> = {
    knowledge: 'knowledge_reasoner',
    commonsense: 'logic_reasoner',
    math: 'calculation_auditor',
    code: 'code_implementer',
    'table-arithmetic': 'calculation_auditor',
    'table-claim': 'entailment_judge',
  }
  const unsuited: Record<QuestionKind, string> = {
    knowledge: 'code_implementer',
    commonsense: 'code_implementer',
    math: 'entailment_judge',
    code: 'entailment_judge',
    'table-arithmetic': 'code_implementer',
    'table-claim': 'code_implementer',
  }

  test.each(questionKinds)('%s: the right one beats the direct answer and the wrong one', async (kind) => {
    const [direct, good, bad] = [
      await scoreOf(kind, AgentGraph.empty),
      await scoreOf(kind, graphOf(suited[kind])),
      await scoreOf(kind, graphOf(unsuited[kind])),
    ]
    expect(good.right).toBeGreaterThan(direct.right + 0.07)
    expect(good.right).toBeGreaterThan(bad.right + 0.1)
    expect(good.tokens).toBeGreaterThan(direct.tokens)
  })

  test('no organisation is best for everything', async () => {
    const forKnowledge = graphOf('knowledge_reasoner', 'option_eliminator', 'adversarial_verifier<0,1')
    const forTables = graphOf('table_interpreter', 'calculation_auditor<0')
    const knowledge = [await scoreOf('knowledge', forKnowledge), await scoreOf('knowledge', forTables)]
    const tables = [
      await scoreOf('table-arithmetic', forKnowledge),
      await scoreOf('table-arithmetic', forTables),
    ]
    expect(knowledge[0]!.right).toBeGreaterThan(knowledge[1]!.right + 0.15)
    expect(tables[1]!.right).toBeGreaterThan(tables[0]!.right + 0.15)
  })

  test('edges matter: material before the calculation, the review after the program', async () => {
    const inOrder = await scoreOf('table-arithmetic', graphOf('table_interpreter', 'calculation_auditor<0'))
    const reversed = await scoreOf('table-arithmetic', graphOf('calculation_auditor', 'table_interpreter<0'))
    expect(inOrder.right).toBeGreaterThan(reversed.right + 0.05)
    const reviewed = await scoreOf('code', graphOf('code_implementer', 'code_reviewer<0'))
    const foreseen = await scoreOf('code', graphOf('code_reviewer', 'code_implementer<0'))
    expect(reviewed.right).toBeGreaterThan(foreseen.right + 0.05)
  })

  test('unsuitable roles get in the way', async () => {
    const alone = await scoreOf('knowledge', graphOf('knowledge_reasoner'))
    const crowded = await scoreOf(
      'knowledge',
      graphOf('code_reviewer', 'table_interpreter', 'knowledge_reasoner<0,1'),
    )
    expect(crowded.right).toBeLessThan(alone.right - 0.05)
    expect(crowded.tokens).toBeGreaterThan(alone.tokens * 1.5)
  })

  test("a checker fixes some of a solver's mistakes", async () => {
    const solver = await scoreOf('code', graphOf('code_implementer'))
    const checked = await scoreOf('code', graphOf('code_implementer', 'code_reviewer<0'))
    expect(checked.right).toBeGreaterThan(solver.right + 0.04)
  })
})

describe('tools', () => {
  test.each([
    ['math', 'calculation_auditor'],
    ['table-claim', 'table_interpreter'],
  ] as const)('%s: %s does better with its tool', async (kind, role) => {
    const [having, lacking] = [
      await scoreOf(kind, graphOf(role)),
      await scoreOf(kind, graphOf(role), undefined, emptyToolbox),
    ]
    expect(having.right).toBeGreaterThan(lacking.right + 0.05)
    expect(having.tokens).toBeGreaterThan(lacking.tokens)
  })
})

describe('groups', () => {
  let atomic: Score
  let group: Score
  beforeAll(async () => {
    atomic = await scoreOf('table-arithmetic', graphOf('calculation_auditor'), hard)
    group = await scoreOf('table-arithmetic', graphOf('calculation_auditor:group'), hard)
  })

  test('help on hard questions that can be divided', () => {
    expect(group.right).toBeGreaterThan(atomic.right + 0.07)
  })

  test('cost more tokens', () => {
    expect(group.tokens).toBeGreaterThan(2 * atomic.tokens)
  })

  test('help less on questions that cannot be divided', async () => {
    const one = await scoreOf('knowledge', graphOf('independent_solver'), hard)
    const three = await scoreOf('knowledge', graphOf('independent_solver:group'), hard)
    expect(three.right - one.right).toBeLessThan(group.right - atomic.right)
  })
})
