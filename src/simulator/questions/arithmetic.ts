import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { evaluateExpression } from '../../execution/tools/calculator.ts'
import type { Dice } from './dice.ts'
import { numberQuestion, type QuestionMaker } from './synthetic-question.ts'
import { entries, filled } from './wording.ts'
import { world } from './world-facts.ts'

/** An entry of `word-problems.yaml`, which explains the notation. */
interface WordProblem {
  readonly draw: Readonly<Record<string, string>>
  readonly text: string
  readonly answer: string
  readonly slips: readonly string[]
}

const problems: Readonly<Record<string, WordProblem>> = parse(
  readFileSync(new URL('word-problems.yaml', import.meta.url), 'utf8'),
)

const lists: Readonly<Record<string, readonly string[]>> = {
  people: world.people.map(({ name, they, their }) => `${name}/${they}/${their}`),
  towns: world.towns,
  money: entries('euros, dollars, pounds, crowns, francs'),
}

/** Word problems of three to five steps with an integer result. */
export const arithmeticQuestions: readonly QuestionMaker[] = Object.values(problems).map(
  (problem) => (dice: Dice) => {
    const values = drawValues(dice, problem.draw)
    const text = filled(problem.text, values)
    if (/\d\.\d/.test(text)) return undefined
    const slips = problem.slips.map((result) => calculate(result, values))
    return numberQuestion([text, calculate(problem.answer, values), ...slips])
  },
)

type Values = Record<string, string | number>

function drawValues(dice: Dice, draw: WordProblem['draw']): Values {
  const values: Values = {}
  for (const [names, rule] of Object.entries(draw)) {
    const range = /^(\d+) to (.+?)(?: by (\d+))?$/.exec(rule)
    const [, count, list = rule] = /^(\d+) of (\w+)$/.exec(rule) ?? []
    if (rule.startsWith('= ')) values[names] = calculate(rule.slice(2), values)
    else if (range !== null)
      values[names] = dice.integer(Number(range[1]), calculate(range[2], values), Number(range[3] ?? 1))
    else {
      const items = lists[list] ?? entries(list)
      const drawn =
        count === undefined
          ? dice.pick(items).split('/')
          : dice.sample(items, Number(count)).map((item) => item.split('/')[0])
      for (const [place, name] of names.split('/').entries()) values[name] = drawn[place]
    }
  }
  return values
}

function calculate(expression: string, values: Values): number {
  return evaluateExpression(expression.replace(/\b[a-z]\w*\b(?!\()/gi, (name) => `(${values[name]})`))
}
