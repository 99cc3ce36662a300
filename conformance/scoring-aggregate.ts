// Overall TAT-QA figures for whole files. A run's name gives its split and the source of its predictions.
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pythonNumberText } from '../src/python/float.ts'
import { loadSplit } from '../src/tasks/benchmarks/benchmark.ts'
import { tatqa } from '../src/tasks/benchmarks/tatqa.ts'
import type { TatqaReference } from '../src/tasks/scoring/reference.ts'
import type { TatqaAnswer } from '../src/tasks/scoring/tatqa.ts'
import { JsonNumber } from '../src/tasks/sources/records.ts'
import type { CaseResult } from './case.ts'
import { findData } from './data-folder.ts'
import { parseWithSources } from './exact-json.ts'
import { aggregateTatqa } from './tatqa-aggregate.ts'

export async function* runAggregateCases(path: string, folder: string): AsyncGenerator<CaseResult> {
  const data = findData(folder)
  const runs = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Record<string, number>>
  for (const [run, expected] of Object.entries(runs)) {
    const name = `${basename(path)} ${run}`
    try {
      if (data === undefined) throw new Error('the data folder was not found')
      const failure = differenceOf(expected, await overallOf(run, data))
      yield failure === undefined ? { name } : { name, failure }
    } catch (error) {
      yield { name, failure: error instanceof Error ? error.message : String(error) }
    }
  }
}

function differenceOf(expected: Record<string, number>, overall: object): string | undefined {
  const figures = overall as Record<string, number>
  for (const [figure, value] of Object.entries(expected)) {
    const ours = figures[figure]
    if (ours === undefined) return `nothing is computed for ${figure}`
    // Sums of thousands of hundredths, possibly in another order.
    if (!(Math.abs(value - ours) <= 1e-9 * Math.max(1, Math.abs(value))))
      return `${figure}: expected ${value}, got ${ours}`
  }
  return undefined
}

async function overallOf(run: string, data: string) {
  const [, split, source] = /^(dev|test_gold) with (.*)$/.exec(run) ?? []
  if (split === undefined || source === undefined) throw new Error('cannot parse the name of this run')
  const loaded = await loadSplit(data, tatqa, split === 'dev' ? 'dev' : 'test')
  const predict = predictionsOf(source, data)
  return aggregateTatqa(
    loaded.ids.map((id, index): [TatqaReference, TatqaAnswer | undefined] => {
      const reference = loaded.references.get(id) as TatqaReference
      return [reference, predict(id, index, reference)]
    }),
  )
}

type Predictor = (id: string, index: number, gold: TatqaReference) => TatqaAnswer | undefined

const ordinals = ['', 'every', 'every second', 'every third', 'every fourth', 'every fifth']

function predictionsOf(source: string, data: string): Predictor {
  if (source.endsWith('.json')) return filePredictions(join(data, 'tatqa', source))
  if (!source.startsWith('the gold answers')) throw new Error(`unknown source of predictions '${source}'`)
  const emptyScale = source.includes('every scale empty')
  const step = ordinals.findLastIndex(
    (ordinal) => ordinal !== '' && source.includes(`of ${ordinal} question`),
  )
  return (_, index, { answers, scale }) =>
    step > 0 && index % step !== 0 ? undefined : { values: answers, scale: emptyScale ? '' : scale }
}

/** The official prediction format: a pair of answers and scale by question uid. */
function filePredictions(path: string): Predictor {
  if (!existsSync(path)) throw new Error(`${path} was not found`)
  const predictions = parseWithSources(readFileSync(path, 'utf8')) as Record<string, [Answers, string]>
  return (id) => {
    const found = predictions[id.slice(id.indexOf(':') + 1)]
    return found === undefined ? undefined : { values: valuesOf(found[0]), scale: found[1] }
  }
}

type Answers = string | JsonNumber | (string | JsonNumber)[] | null

/** What Python considers false (null, zero, an empty text) is an empty prediction. */
function valuesOf(answers: Answers): string[] {
  if (answers === null || answers === '' || (answers instanceof JsonNumber && Number(answers.source) === 0))
    return []
  return [answers].flat().map(textOf)
}

function textOf(answer: string | JsonNumber): string {
  return answer instanceof JsonNumber ? pythonNumberText(answer.source) : answer
}
