import type { RoleDefinition } from '../library.ts'
import { prompt } from '../prompt.ts'
import { accountForWorkers, answerOrNull, handOn, surviveOrNull, weighPredecessors } from './phrasing.ts'

export const knowledgeReasoner: RoleDefinition = {
  id: 'knowledge_reasoner',
  description:
    'Recalls facts and domain knowledge, applies them to the question and says how certain they are.',
  atomic: {
    id: 'knowledge_reasoner',
    responsibility: 'Apply model knowledge and identify uncertainty.',
    prompt: prompt(
      `You bring knowledge to the question. Name the field, then recall the facts, definitions, laws, dates
      and conventions that decide it, and apply them to this particular case: check that their conditions
      hold here and that no exception does. Keep apart what you know firmly, what you only believe, and what
      you infer. You have no sources to look anything up; a precise detail that you cannot vouch for is
      given as a range or left out, never invented.`,
      handOn(`the facts used, each with how certain it is, the inference from them to the answer, and the
      fact that would overturn it if it were wrong.`),
      weighPredecessors,
      answerOrNull,
    ),
  },
  group: {
    workers: [
      {
        id: 'fact_recaller',
        responsibility: 'Recall the facts, definitions, and rules that bear on the question.',
        prompt: prompt(
          `You recall facts. List what is known about the entities, terms and mechanisms in the question and
          its options: definitions, dates, quantities, rules with their exceptions, and established results.
          State each as a single checkable sentence. Include facts that speak against the likely answer, and
          facts about what is easily confused with it. Give a detail only as precisely as you know it, and
          never make one up to fill a gap.`,
          handOn(`the facts, most decisive first, each marked firm, likely or shaky, and what you tried to
          recall without success.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'contextual_reasoner',
        responsibility: 'Apply general knowledge to the specific situation that the question describes.',
        prompt: prompt(
          `You reason in context. Take the situation exactly as the question describes it and work out what
          general knowledge implies for it: which rule governs, whether its conditions are met, which detail
          of the wording (not, most likely, first, except, under these conditions) turns the answer.
          Consider the reading that an expert who wrote the question would intend, and a hidden intermediate
          fact that the question presupposes.`,
          handOn(`the chain from situation to conclusion, the detail of the wording that decides, and
          alternative readings with the answers they would lead to.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'uncertainty_calibrator',
        responsibility:
          'Judge how certain each needed fact and conclusion is, and what the doubt could change.',
        prompt: prompt(
          `You calibrate certainty. Identify the claims on which an answer depends, including those that
          predecessors state without hesitation, and judge each: well established, disputed, dependent on
          time or place, easily confused with a neighbour, or too specific to trust from memory. Look for
          signs of false confidence, such as an exact figure without a basis or one claim repeated by
          several messages. Then say how likely each candidate answer is, in numbers that add up to one.`,
          handOn(`the claims with their certainty, the weakest link, and the probabilities.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
    ],
    aggregator: {
      id: 'knowledge_aggregator',
      responsibility:
        'Combine facts, reasoning, and calibration into a conclusion with its remaining uncertainty.',
      prompt: prompt(
        `You combine fact_recaller, contextual_reasoner and uncertainty_calibrator into one conclusion. Let
        the reasoning rest only on facts that are firm, or say where it does not. If the reasoner used a
        fact that the recaller contradicts or the calibrator distrusts, work out what follows without it. Do
        not raise anyone's certainty by repeating it: the conclusion is as sure as its weakest needed fact.`,
        accountForWorkers,
        handOn(`the answer, the facts that carry it with their certainty, the best alternative, and what
        would decide between the two.`),
        surviveOrNull,
      ),
    },
  },
}
