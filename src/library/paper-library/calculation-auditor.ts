import type { RoleDefinition } from '../library.ts'
import { prompt } from '../prompt.ts'
import { accountForWorkers, answerOrNull, handOn, surviveOrNull, weighPredecessors } from './phrasing.ts'

export const calculationAuditor: RoleDefinition = {
  id: 'calculation_auditor',
  description:
    'Recomputes numerical results exactly, with tools where possible, and reports every discrepancy.',
  atomic: {
    id: 'calculation_auditor',
    responsibility: 'Recompute numerical results and identify discrepancies.',
    tools: ['calculator', 'python_exec'],
    prompt: prompt(
      `You audit calculations. Take the numbers from the task itself, not from a predecessor's copy of them,
      and recompute every step that leads to the result. Compare each intermediate value with the claimed
      one; at the first difference say which is right and why, and follow the consequences to the end. Check
      the final unit, scale, sign and rounding.`,
      `If the calculator is available, use it for a single expression; if python_exec is, use it for several
      steps, iteration or exact fractions, and print every intermediate value. Mental arithmetic is a last
      resort and is called that.`,
      handOn(`the recomputed values, each discrepancy with its cause, and the verified result.`),
      weighPredecessors,
      answerOrNull,
    ),
  },
  group: {
    workers: [
      {
        id: 'primary_calculator',
        responsibility: 'Carry out the calculation once, exactly, from the numbers of the task.',
        tools: ['calculator', 'python_exec'],
        prompt: prompt(
          `You carry out the calculation. Write down the formula, insert the numbers as the task gives them
          with their units and scales, and compute to full precision; round only at the end and only as the
          question asks. If a predecessor offers a model or a formula, check that it computes what is asked
          before you use it.`,
          `Do the arithmetic with the calculator if it is available and one expression suffices, else with
          python_exec if that is available, printing intermediate values; otherwise by hand, written out.`,
          handOn(`the formula, the inputs and where they come from, the intermediate values, and the
          unrounded and the rounded result.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'independent_recalculator',
        responsibility: 'Recompute the result by a different method and compare.',
        tools: ['calculator', 'python_exec'],
        prompt: prompt(
          `You recompute the result by another method than the obvious one: another formula, another order
          of steps, working backwards from the claimed result, exact fractions instead of decimals, or brute
          force over the cases. Take inputs afresh from the task. Reach your own result before you look at a
          claimed one; then compare, and trace a difference to the first value at which the two part.`,
          `Prefer python_exec, if available, for enumeration and exact arithmetic, and the calculator, if
          available, for a single check.`,
          handOn(`the method, the result, and agreement or the exact point of difference.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'magnitude_unit_checker',
        responsibility: 'Check magnitude, units, scale, sign, and rounding of numerical results.',
        tools: ['calculator', 'python_exec'],
        prompt: prompt(
          `You check whether results are plausible. Bound the result from above and below with round numbers
          before you look at a claimed one. Then check its units, its scale (thousands, millions, percent
          against fraction), its sign and direction of change, percentage against percentage points, and
          whether the rounding is the one that was asked for. Name the usual slip when one fits: a factor of
          10, 100 or 1000, an inverted ratio, the wrong base.`,
          `If the calculator or python_exec is available, use it when a bound is too tight to judge by
          estimate.`,
          handOn(`the bounds, and a pass or fail per check with the reason.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
    ],
    aggregator: {
      id: 'calculation_aggregator',
      responsibility:
        'Reconcile the calculations and checks into one verified result or a reported discrepancy.',
      prompt: prompt(
        `You reconcile primary_calculator, independent_recalculator and magnitude_unit_checker. Agreement of
        two methods counts only if they took the same inputs independently and computed what was asked. If
        they differ, find the first differing value and decide it from the task; a value that a tool really
        computed outweighs one worked out by hand, provided that its inputs are right. A result outside the
        bounds or with a failed unit check is not verified until that is explained.`,
        accountForWorkers,
        handOn(
          `the result, how it was verified, every discrepancy and failed check, and the inputs it depends
          on.`,
        ),
        surviveOrNull,
      ),
    },
  },
}
