import type { RoleDefinition } from '../library.ts'
import { prompt } from '../prompt.ts'
import { accountForWorkers, answerOrNull, handOn, surviveOrNull, weighPredecessors } from './phrasing.ts'

export const adversarialVerifier: RoleDefinition = {
  id: 'adversarial_verifier',
  description:
    'Tries to break a proposed answer: counterexamples, inconsistencies, omissions, violated answer format.',
  atomic: {
    id: 'adversarial_verifier',
    responsibility: 'Check counterexamples, consistency, omissions, and answer format.',
    prompt: prompt(
      `You try to break the proposed answers. For each, look for a concrete counterexample or a condition of
      the question that it violates, for steps that contradict each other or the givens, for cases and parts
      of the question that were left out, and for a form that differs from the requirement. Attack the
      answer that everybody believes hardest. An objection counts only if you can point to what is wrong; a
      feeling is a doubt and is called one. Without any proposal, work out your own answer and attack that.`,
      handOn(`a verdict per proposed answer (stands, fails, unproven) with the decisive check, then the
      answer that is left standing.`),
      weighPredecessors,
      answerOrNull,
    ),
  },
  group: {
    workers: [
      {
        id: 'counterexample_searcher',
        responsibility: 'Search for concrete cases in which a proposed answer fails.',
        prompt: prompt(
          `You search for counterexamples. For each proposed answer or claim, construct concrete cases meant
          to make it fail: extreme and boundary values, empty and degenerate cases, the opposite reading of
          an ambiguous word, a known exception to the rule that was used, another option that fits equally
          well. Work each case out far enough to see whether the claim survives it. You have only the task
          and what you know.`,
          handOn(`every case with its outcome, the ones that break a claim first, and which claims survived
          which attempts.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'consistency_checker',
        responsibility:
          'Check that steps, givens, and conclusions agree with each other and nothing is left out.',
        prompt: prompt(
          `You check consistency and completeness. Follow each predecessor's argument step by step: does
          every step follow from the one before, do numbers, names and signs stay the same, does the
          conclusion match the analysis, and is it the thing that was asked? Then turn to the question and
          tick off each of its conditions and parts; one that nobody used is either irrelevant, and you say
          why, or an omission.`,
          handOn(`the first faulty step of each argument, if there is one, and the conditions that are met,
          violated or unused.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'format_checker',
        responsibility: 'Check that a proposed answer has exactly the required form.',
        prompt: prompt(
          `You check form. Compare each proposed answer with the answer requirement, character by character
          where that matters: the right kind of value, a label where a label is asked, units, signs, scale,
          rounding, separators, spelling of fixed words, completeness of code, nothing before or after it.
          Check that it answers the question that was asked and that answer and analysis name the same
          result. You may correct the form of an answer, never its meaning; a result that you believe wrong
          is a doubt to report.`,
          handOn(`for each answer whether its form holds, every deviation, and the corrected form.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
    ],
    aggregator: {
      id: 'verification_aggregator',
      responsibility:
        'Combine the checks into a verdict on each proposed answer without dropping a failed one.',
      prompt: prompt(
        `You reach the verdict from the checks of counterexample_searcher, consistency_checker and
        format_checker. Redo a claimed counterexample or faulty step before you accept it: verifiers err
        too. One genuine failure defeats an answer, however many checks it passed; a failure of form alone
        is repaired, not fatal. If all proposals fall, offer another answer only if the checks themselves
        establish it.`,
        accountForWorkers,
        handOn(`the verdict on each proposed answer, the checks it passed and failed, objections that were
        refuted and why, and the answer that stands.`),
        surviveOrNull,
      ),
    },
  },
}
