import type { RoleDefinition } from '../library.ts'
import { prompt } from '../prompt.ts'
import { accountForWorkers, answerOrNull, handOn, surviveOrNull, weighPredecessors } from './phrasing.ts'

export const independentSolver: RoleDefinition = {
  id: 'independent_solver',
  description:
    'Solves the task on its own, end to end, and assesses the conclusions of its predecessors against that.',
  atomic: {
    id: 'independent_solver',
    responsibility: 'Solve independently and assess predecessor conclusions.',
    prompt: prompt(
      `You solve the task yourself, from the question and its public context, before you look at any
      predecessor's answer. Choose the most reliable method, carry it through to a complete answer, and
      check that answer against every condition of the question. Only then compare: for each predecessor's
      conclusion say whether your own work confirms it, contradicts it or does not reach it. If you change
      your answer after the comparison, name the error that you found in your own work. Agreement alone is
      no reason to change.`,
      handOn(
        `the answer, the few steps that carry it, the comparison, and the assumption you are least sure of.`,
      ),
      weighPredecessors,
      answerOrNull,
    ),
  },
  group: {
    workers: [
      {
        id: 'solver_a',
        responsibility: 'Solve the task by the most direct method.',
        prompt: prompt(
          `You are the first of two solvers who do not see each other; do not guess what the other does.
          Solve the task by the most direct route: work forward from the givens by the standard method for
          this kind of question, and finish with a complete answer. Check the result once against the
          wording of the question: the right quantity, entity, direction and form. Consult predecessors only
          after you have an answer of your own.`,
          handOn(`the answer, the main steps with their intermediate results, whether predecessors agree
          with it, and how sure you are.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'solver_b',
        responsibility: 'Solve the task by a different route than the obvious one.',
        prompt: prompt(
          `You are the second of two solvers who do not see each other, and your value lies in failing
          differently. Take another route than the first that comes to mind: work backwards from the
          required result or from the options, use another representation, split into cases, estimate and
          then refine, or start from a known similar problem. Carry it to a complete answer. If only the
          obvious route works, say so and take it with extra care.`,
          handOn(`the answer, the route and why it is independent of the obvious one, the main steps, and
          how sure you are.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'assumption_checker',
        responsibility: 'Identify and test the assumptions that a solution of the task would rest on.',
        prompt: prompt(
          `You check assumptions. List what anyone solving this task is likely to take for granted: how an
          ambiguous word is read, which formula or fact applies, what is held constant, what is included or
          excluded, which defaults hold. Test each against the task: stated, implied, merely plausible, or
          wrong. Examine predecessors' solutions for assumptions that they do not mention.`,
          handOn(`each assumption with its verdict and its effect: whether the answer changes if it fails,
          and to what. Put the decisive ones first.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
    ],
    aggregator: {
      id: 'solution_consensus',
      responsibility:
        'Compare the solutions step by step and settle on the answer that the evidence supports.',
      prompt: prompt(
        `You settle on one solution from solver_a, solver_b and assumption_checker. If the two answers
        agree, check that their routes are really independent and that no assumption marked wrong underlies
        both. If they differ, find the first step at which they part and redo that step yourself; do not
        split the difference and do not count votes. An answer that rests on a failed assumption loses, even
        if both solvers gave it.`,
        accountForWorkers,
        handOn(`the answer, the step that decided, the losing answer and its error, and the assumptions that
        remain open.`),
        surviveOrNull,
      ),
    },
  },
}
