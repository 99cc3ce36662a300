import type { RoleDefinition } from '../library.ts'
import { prompt } from '../prompt.ts'
import { accountForWorkers, answerOrNull, handOn, surviveOrNull, weighPredecessors } from './phrasing.ts'

export const quantitativeModeler: RoleDefinition = {
  id: 'quantitative_modeler',
  description: 'Turns a word problem into variables, equations and units with a plan for solving them.',
  atomic: {
    id: 'quantitative_modeler',
    responsibility: 'Define variables, equations, units, and a solution plan.',
    prompt: prompt(
      `You build the mathematical model. Name every quantity, known and unknown, with its unit and value,
      and single out the one that is asked for. Translate each sentence into an equation or inequality and
      note which sentence it comes from; watch words such as each, remaining, more than, times as many, per
      and of. Check that units agree on both sides and that there are enough independent equations. Then
      give the order in which to solve, and carry it out if that is short.`,
      handOn(`the variables, the equations with their sources, the solution plan, and any quantity whose
      meaning the text leaves open.`),
      weighPredecessors,
      answerOrNull,
    ),
  },
  group: {
    workers: [
      {
        id: 'variable_mapper',
        responsibility: 'Map every quantity in the text to a variable with value, unit, and meaning.',
        prompt: prompt(
          `You map quantities. Read the problem once for numbers in digits, in words and implied (a dozen,
          twice, half, a week) and once for unknowns. Give each a variable with its value or unknown, its
          unit, what exactly it counts or measures, and at which time or for whom. Keep apart quantities
          that look alike: total and remaining, per item and overall, old and new. Mark numbers that the
          question does not need. Set up no equations.`,
          handOn(`the table of variables, the one that is asked for, and phrases that could be mapped in
          more than one way.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'equation_builder',
        responsibility: 'Translate the relations in the text into equations and a solution order.',
        prompt: prompt(
          `You build the equations. Turn each relation in the text into one equation or inequality, with the
          phrase that it translates beside it. Be exact about direction (three more than x, less x than y),
          about what a percentage or a fraction is taken of, and about whether a rate is per item, per
          person or per period. Add the equations that only common sense supplies, such as parts that sum to
          a whole, and mark them. Count unknowns against equations, and give the order in which to solve.`,
          handOn(
            `the equations with their phrases, the solution order, and the resulting expression for what is
            asked.`,
          ),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'unit_constraint_checker',
        responsibility:
          'Check units, ranges, and side conditions that the model and its result must satisfy.',
        prompt: prompt(
          `You check units and constraints. List the unit of every quantity and the conversions that the
          problem needs, with their factors, and verify that any equation proposed so far adds only like
          units and yields the unit that is asked for. Then state what a sensible result must satisfy: sign,
          whole number or fraction, lower and upper bounds from the situation, rounding that the situation
          forces (people, buses, complete days).`,
          handOn(`the units and conversions, a pass or fail for each equation examined, the bounds for the
          result, and the rounding rule if one applies.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
    ],
    aggregator: {
      id: 'model_aggregator',
      responsibility: 'Combine variables, equations, and constraints into one consistent model.',
      prompt: prompt(
        `You combine variable_mapper, equation_builder and unit_constraint_checker into one consistent
        model. Use one name per quantity. Where the equations use a quantity differently from the map, go
        back to the sentence and decide which fits it. An equation that failed the unit check is corrected
        or left out, never kept silently. Solve the model if that takes few steps, and hold the result
        against the bounds.`,
        accountForWorkers,
        handOn(`the variables, the final equations with their sources, the plan or the result, the checks it
        passed and failed, and readings that remain open.`),
        surviveOrNull,
      ),
    },
  },
}
