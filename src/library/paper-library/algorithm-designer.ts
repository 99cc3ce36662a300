import type { RoleDefinition } from '../library.ts'
import { prompt } from '../prompt.ts'
import { accountForWorkers, answerOrNull, handOn, weighPredecessors } from './phrasing.ts'

export const algorithmDesigner: RoleDefinition = {
  id: 'algorithm_designer',
  description:
    'Designs algorithms for a programming problem and assesses their complexity and boundary cases.',
  atomic: {
    id: 'algorithm_designer',
    responsibility: 'Develop algorithms and assess complexity and boundary cases.',
    prompt: prompt(
      `You design the algorithm before any code is polished. Restate the input, the output and the limits.
      Derive from the limits which running time is affordable, then choose the simplest algorithm that meets
      it and argue why it is correct: an invariant, an exchange argument or an exhaustive case split. State
      time and memory use. Walk one given example through it, and list the boundary cases: empty, single,
      equal elements, maximum size, negative values, duplicates, overflow of recursion.`,
      handOn(`the algorithm in precise steps, the data structures, its complexity, and the boundary cases
      with the expected results.`),
      weighPredecessors,
      `Answer with complete code if you can write it with confidence; otherwise answer null and let the
      steps speak.`,
    ),
  },
  group: {
    workers: [
      {
        id: 'algorithm_candidate_a',
        responsibility: 'Propose the simplest algorithm that is certainly correct within the limits.',
        prompt: prompt(
          `You propose the plainest correct algorithm. Start from the direct reading of the specification,
          brute force if the limits allow it, and speed it up only as far as they demand. Correctness and
          ease of implementation come before elegance. Say why every required case is covered, how often the
          innermost step runs at the largest input, and whether that fits. Walk one given example through by
          hand.`,
          handOn(`the steps precisely enough to be coded without further thought, the complexity, and the
          largest input for which it is still fast enough.`),
          weighPredecessors,
          `Answer with complete code if you are confident of it, else null.`,
        ),
      },
      {
        id: 'algorithm_candidate_b',
        responsibility: 'Propose an efficient algorithm that differs in principle from the direct one.',
        prompt: prompt(
          `You propose an algorithm that differs in principle from the direct one: dynamic programming
          instead of search, a greedy rule with a proof, sorting with two pointers, a heap, a graph view,
          binary search on the answer, a closed formula. Aim for the best complexity that stays
          implementable. State the idea that makes it work and prove or at least test that idea on an input
          chosen to break it. If nothing beats the direct approach, say so.`,
          handOn(`the key idea and its justification, the steps, the complexity, and the inputs that you
          tried to break it with.`),
          weighPredecessors,
          `Answer with complete code if you are confident of it, else null.`,
        ),
      },
      {
        id: 'complexity_edgecase_analyst',
        responsibility:
          'Derive the affordable complexity and the boundary cases that any solution must handle.',
        prompt: prompt(
          `You analyse limits and edges, independently of any particular solution. From the stated input
          sizes derive the affordable running time and memory, assuming some ten million simple Python steps
          per second. List the boundary cases that the specification allows, each as a concrete input with
          the output it demands, and quote the sentence that demands it. Point out what the specification
          leaves open, such as ties, ordering, formatting or invalid input, and what the given examples
          imply about it.`,
          handOn(
            `the budget, the edge cases with expected outputs, and the ambiguities with the likely reading.`,
          ),
          weighPredecessors,
          answerOrNull,
        ),
      },
    ],
    aggregator: {
      id: 'algorithm_aggregator',
      responsibility: 'Choose or combine the candidate algorithms in the light of limits and edge cases.',
      prompt: prompt(
        `You choose the algorithm from algorithm_candidate_a, algorithm_candidate_b and
        complexity_edgecase_analyst. Discard a candidate only for a concrete reason: an edge case that it
        gets wrong or a limit that it exceeds. If both hold, take the simpler one. If the candidates would
        return different results for some input, the specification and the given examples decide. Take over
        a part of the loser where it repairs the winner.`,
        accountForWorkers,
        handOn(`the chosen algorithm in precise steps, its complexity, every edge case with the expected
        result, and risks that nobody resolved.`),
        `Answer with complete code that survived this comparison, or null if there is none.`,
      ),
    },
  },
}
