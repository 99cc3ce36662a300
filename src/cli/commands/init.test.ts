import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { loadConfiguration, ownTasksOf } from '../../configuration/configuration.ts'
import { openToolbox } from '../../execution/toolbox.ts'
import { AgentGraph } from '../../graph/agent-graph.ts'
import { processCallLimit } from '../../models/call-limit.ts'
import { defaultSettings } from '../../settings/execution.ts'
import { knownTasks } from '../../simulator/model/known-task.ts'
import { SimulatedModel } from '../../simulator/model/simulator.ts'
import { TaskExecutor } from '../../tasks/task-executor.ts'
import { splitOf } from '../../tasks/task-set.ts'
import { evaluateGraph } from '../../training/evaluate-graph.ts'
import { UsageError } from '../problem.ts'
import { initCommand } from './init.ts'

const root = mkdtempSync(join(tmpdir(), 'init-'))
afterAll(() => rmSync(root, { recursive: true }))
afterEach(() => void vi.restoreAllMocks())

const names = ['.env.example', '.gitignore', 'README.md', 'magic.config.ts', 'questions.jsonl']

/** The command's output. */
async function init(...words: string[]): Promise<string> {
  const printed: string[] = []
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0)
  await initCommand().parseAsync(words, { from: 'user' })
  vi.restoreAllMocks()
  return printed.join('')
}

describe('magic init', () => {
  test('writes a task and prints the next steps', async () => {
    const folder = join(root, 'new', 'task')
    const printed = await init(folder)
    expect(readdirSync(folder).sort()).toEqual(names)
    expect(printed).toContain(`Wrote 5 files to ${folder}`)
    for (const step of [
      `cd ${folder}`,
      'magic train',
      'magic eval <run> --split test',
      'magic ask <run> "question"',
    ])
      expect(printed).toContain(`  ${step}`)
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('runs/\n.env\n')
  })

  test('prints the same as JSON', async () => {
    const folder = join(root, "a b's")
    const told = JSON.parse(await init(folder, '--json'))
    expect(told).toMatchObject({ folder, kept: [] })
    expect(told.written.sort()).toEqual(names)
    expect(told.next[0].command).toBe(`cd '${root}/a b'\\''s'`)
  })

  test('never overwrites a file that has content', async () => {
    const folder = join(root, 'used')
    mkdirSync(folder)
    writeFileSync(join(folder, 'README.md'), 'mine')
    writeFileSync(join(folder, 'questions.jsonl'), '')
    await expect(init(folder)).rejects.toThrow(UsageError)
    await expect(init(folder)).rejects.toThrow('is not empty (README.md, questions.jsonl)')
    expect(readdirSync(folder)).toHaveLength(2)
    expect(await init(folder, '--force')).toContain('Kept as they were: README.md.')
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe('mine')
    expect(readFileSync(join(folder, 'questions.jsonl'), 'utf8')).not.toBe('')
    expect(await init(folder, '--force')).toContain('Wrote 0 files')
  })

  test('accepts a folder that holds only .git, and refuses a path that is a file', async () => {
    const folder = join(root, 'repository')
    mkdirSync(join(folder, '.git'), { recursive: true })
    expect(await init(folder)).toContain('Wrote 5 files')
    await expect(init(join(folder, 'README.md'))).rejects.toThrow('Cannot write to')
  })
})

describe('the task it writes', () => {
  const folder = join(root, 'ferry')
  const open = async () => {
    if (!readdirSync(root).includes('ferry')) await init(folder)
    return (await ownTasksOf(await loadConfiguration(folder)))!
  }

  test('has ten questions, more for training than held out, whose answers score and wrong answers do not', async () => {
    const set = await open()
    expect(set.name).toBe('ferry-fares')
    const { train, test: held } = set.splits
    expect(train!.tasks.length + held!.tasks.length).toBe(10)
    expect(held!.tasks.length).toBeGreaterThanOrEqual(2)
    expect(train!.tasks.length).toBeGreaterThan(held!.tasks.length)
    for (const { references } of [train!, held!]) {
      for (const reference of references.values()) {
        const { answer, wrong } = set.scorer.solution!(reference)!
        expect((await set.scorer.score(answer, reference, {})).score).toBe(1)
        expect(wrong).toHaveLength(2)
        for (const other of wrong!) expect((await set.scorer.score(other, reference, {})).score).toBe(0)
      }
    }
  })

  test('has answers that follow from its tariff', async () => {
    const { splits } = await open()
    const references = new Map(Object.values(splits).flatMap((split) => [...split.references]))
    const expected = [
      2 * 18 + 9,
      2 * 30 * 0.9,
      (2 * 12 + 6) * 2 * 0.9,
      18 * 2 * 0.9 + 2 * 5,
      12 * 30 * 0.8,
      9 * 12,
      (10 * 9 + 2 * 18) * 0.8,
      2 * 12 * 0.1,
      Math.floor(100 / 18),
      2 * (30 + 8),
    ]
    for (const [index, value] of expected.entries())
      expect(Number((references.get(`ferry-${index + 1}`) as { number: string }).number)).toBeCloseTo(
        value,
        9,
      )
  })

  test('runs on the simulated model, which answers some questions alone and more in a team', async () => {
    const set = await open()
    const parts = { set, tools: openToolbox(), settings: defaultSettings, limit: processCallLimit }
    const team = AgentGraph.of([
      { role: 'table_interpreter', realization: 'group', predecessors: [] },
      { role: 'calculation_auditor', realization: 'group', predecessors: [0] },
    ])
    const right = { alone: 0, team: 0 }
    for (let seed = 0; seed < 5; seed += 1) {
      const executor = new TaskExecutor({
        ...parts,
        model: new SimulatedModel({ tasks: knownTasks(set), seed }),
      })
      for (const name of ['train', 'test']) {
        const { tasks, references } = splitOf(set, name)
        for (const task of tasks) {
          const score = async (graph: AgentGraph) =>
            (await evaluateGraph(executor, graph, task, references.get(task.id))).evaluation.score
          right.alone += await score(AgentGraph.empty)
          right.team += await score(team)
        }
      }
    }
    expect(right.alone).toBeGreaterThan(0)
    expect(right.team).toBeGreaterThan(right.alone)
    expect(right.team).toBeLessThanOrEqual(50)
  })
})
