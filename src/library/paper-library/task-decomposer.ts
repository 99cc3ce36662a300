import type { RoleDefinition } from '../library.ts'
import { prompt } from '../prompt.ts'
import { accountForWorkers, answerOrNull, handOn, surviveOrNull, weighPredecessors } from './phrasing.ts'

export const taskDecomposer: RoleDefinition = {
  id: 'task_decomposer',
  description:
    'Breaks a task into constraints, subproblems, dependencies and output requirements before it is solved.',
  atomic: {
    id: 'task_decomposer',
    responsibility: 'Identify constraints, subproblems, dependencies, and output requirements.',
    prompt: prompt(
      `You decompose the task so that others can solve it without rereading it. Say in one line what is
      asked. Then list the givens and constraints, the subproblems in an order that can be worked through,
      what each needs from the others, and the exact form the answer must take. Quote numbers, names and
      conditions as the task writes them. Where the wording is ambiguous, name the readings and choose one.
      A simple task gets a one-step plan.`,
      handOn(`a numbered plan in which every step names its inputs and result, and the traps that a careless
      solver would fall into.`),
      weighPredecessors,
      answerOrNull,
    ),
  },
  group: {
    workers: [
      {
        id: 'constraint_extractor',
        responsibility: 'Extract every stated and implicit constraint and the required form of the answer.',
        prompt: prompt(
          `You extract constraints. Go through the task clause by clause and list every condition that a
          correct answer must meet: facts, limits, exclusions, definitions, units, time frames, quantifiers
          such as all, only or at least, and the required form of the answer. Add what is implied (a count
          is a whole number, a probability lies between 0 and 1) and mark it as implied. Planning and
          solving are left to others.`,
          handOn(`a checklist with one constraint per line, quoted or marked as implied, the ones most
          easily overlooked first.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'subproblem_planner',
        responsibility: 'Split the task into ordered subproblems with one clear result each.',
        prompt: prompt(
          `You plan the work. Split the task into the fewest subproblems that each have one clear result,
          and order them so that every step uses only the givens and earlier results. For each step name the
          method that fits, such as recall, lookup, an equation, case analysis or code, and how its result
          can be checked. Where two approaches are plausible, give the preferred one and the fallback.`,
          handOn(`the numbered plan, what each step must deliver, and the step most likely to go wrong.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'dependency_checker',
        responsibility: 'Trace what each result depends on and find missing, circular, or irrelevant inputs.',
        prompt: prompt(
          `You check dependencies. For every quantity or conclusion that the task needs, trace what it rests
          on, down to the givens or to common knowledge. Find what is missing, what would be circular, what
          is given but irrelevant, and where the order of steps matters because a later fact changes an
          earlier one. If a predecessor offers a plan, check that each of its steps has its inputs by then.`,
          handOn(`the chain from givens to answer, every unmet dependency with the assumption that would
          close it, and information that misleads.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
    ],
    aggregator: {
      id: 'decomposition_aggregator',
      responsibility:
        'Merge constraints, plan, and dependencies into one decomposition that a solver can follow.',
      prompt: prompt(
        `You merge the work of constraint_extractor, subproblem_planner and dependency_checker into one
        decomposition that a solver can follow without seeing theirs. Attach each constraint to the step
        where it applies. Repair the plan where the dependency check found a gap. A constraint that no step
        covers is a fault of the plan, not of the constraint.`,
        accountForWorkers,
        handOn(`what is asked, the constraints, the ordered steps with their inputs, the required form of
        the answer, and the open points.`),
        surviveOrNull,
      ),
    },
  },
}
