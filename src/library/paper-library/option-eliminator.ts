import type { RoleDefinition } from '../library.ts'
import { prompt } from '../prompt.ts'
import { accountForWorkers, answerOrNull, handOn, surviveOrNull, weighPredecessors } from './phrasing.ts'

export const optionEliminator: RoleDefinition = {
  id: 'option_eliminator',
  description:
    'Weighs support and objections for every answer option of a multiple-choice question and eliminates.',
  atomic: {
    id: 'option_eliminator',
    responsibility: 'Assess support and objections for candidate options.',
    prompt: prompt(
      `You decide by elimination. Restate what the chosen option must satisfy, noting words such as not,
      except, best or all. Then take every option in turn, none skipped, and give its strongest support and
      its strongest objection. Eliminate an option only for a definite reason; merely sounding odd is none.
      Among those left, compare the two best directly on the point where they differ. Refer to options by
      label and check that label and content belong together.`,
      handOn(`one line per option (kept or eliminated, and why), the deciding difference between the last
      two, and the chosen label.`),
      weighPredecessors,
      answerOrNull,
    ),
  },
  group: {
    workers: [
      {
        id: 'option_support_analyst',
        responsibility: 'Make the strongest honest case for each option.',
        prompt: prompt(
          `You argue for the options. For every option, in order, make the best honest case that it is the
          right one: the fact, rule or computation that would make it so, and the reading of the question
          under which it holds. Rate the case as conclusive, strong, weak or none. Do not argue against
          options; a colleague does. An option for which no case can be made is worth saying so. Quote
          options by their labels.`,
          handOn(`the case and rating for each option, and which option has the strongest case, with the
          assumption that it needs.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'option_refute_analyst',
        responsibility: 'Make the strongest honest objection to each option.',
        prompt: prompt(
          `You argue against the options. For every option, in order, find what is wrong with it: a false
          part, a violated condition, a wrong magnitude, unit or sign, too broad or too narrow a claim, an
          answer to another question. Rate the objection as fatal, serious, minor or none, and be as hard on
          the option that looks right as on the rest. Fatal means that the option cannot be correct under
          any sensible reading. Quote options by their labels.`,
          handOn(`the objection and rating for each option, and the options that survive.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'distractor_detector',
        responsibility: 'Recognise options built to catch typical mistakes, and the mistake behind each.',
        prompt: prompt(
          `You detect distractors. Ask of each wrong-looking option which typical mistake would lead to it:
          a skipped last step, a swapped ratio, a confused term, an ignored negation, a true statement that
          does not answer the question, a popular misconception. Note pairs of options that differ in one
          respect, since the difference is what the question tests. Check whether the option favoured so
          far, by you or by predecessors, is itself such a trap.`,
          handOn(`the mistake behind each distractor, the point that the question tests, and the option that
          is left when the traps are taken away.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
    ],
    aggregator: {
      id: 'option_aggregator',
      responsibility: 'Weigh the cases for, against, and behind each option and choose.',
      prompt: prompt(
        `You choose the option from the reports of option_support_analyst, option_refute_analyst and
        distractor_detector. Build one table in your head: per option its best support, its worst objection
        and the trap it may be. A fatal objection that you can confirm removes an option whatever its
        support. Between survivors, decide on the point where they differ, not on the number of arguments.
        Verify that the label stands for the content you mean.`,
        accountForWorkers,
        handOn(`the chosen label, why it beats the runner-up, the eliminated options with their reasons, and
        ratings on which the workers differ.`),
        surviveOrNull,
      ),
    },
  },
}
