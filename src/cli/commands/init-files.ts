// What `magic init` writes: a small task of its own that trains as it stands, to be replaced piece by piece.
import type { GivenQuestion } from '../../tasks/own/question.ts'

export type InitFileName = 'magic.config.ts' | 'questions.jsonl' | 'README.md' | '.env.example' | '.gitignore'

// No import that runs: the file works in a checkout and where the package is installed, and an editor still checks it.
const configuration = `// What is learned here: on which questions, by whom, with which model. Every field is explained in docs/tasks.md.
export default {
  name: 'ferry-fares',

  // Questions with their answers, one JSON object per line. Put yours into the file or name another (.jsonl or .csv).
  tasks: 'questions.jsonl',

  // What the answers are: 'option', 'boolean', 'number', 'text' or 'code'. Left out, the questions themselves show it.
  answer: 'number',

  // Without a key everything runs on the simulated model. It knows the answers above, and errs as agents do.
  model: 'simulated',
  // With a key in .env (see .env.example) a real one, within a budget in the currency of its price:
  // model: { preset: 'deepseek' },
  // budget: { cost: 5 },

  // Larger steps and more graphs per question than in the paper: good where calls cost nothing.
  preset: 'demo',
  training: { passes: 10 },
} satisfies import('magic-agents').MagicConfiguration
`

const rules =
  'Tariff of the harbour ferry. The table has the fares in crowns for one crossing. A return ticket costs twice the ' +
  'fare of one crossing less 10 %. Children under 4 travel free and are not counted as paying passengers. A bicycle ' +
  'pays its fare for each crossing, without any reduction. Groups of ten or more paying passengers get 20 % off ' +
  'their fares for single crossings.'

const fares = {
  name: 'fares',
  header: ['to', 'adult', 'child', 'bicycle'],
  rows: [
    ['North Island', '12', '6', '4'],
    ['Lighthouse', '18', '9', '5'],
    ['Far Skerry', '30', '15', '8'],
  ],
}

type Row = [topic: string, question: string, answer: string, ...wrong: string[]]

// The wrong answers are the slips that the rules invite; they make the simulated model worth organising.
const rows: readonly Row[] = [
  [
    'single',
    'Two adults and a child of 7 cross to the Lighthouse, one way. What do they pay?',
    '45',
    '54',
    '36',
  ],
  ['return', 'What does a return ticket to Far Skerry cost an adult?', '54', '60', '57'],
  [
    'return',
    'Two adults with children of 3 and 8 take return tickets to North Island. What do they pay?',
    '54',
    '64.8',
    '60',
  ],
  [
    'bicycle',
    'An adult with a bicycle goes to the Lighthouse and back on a return ticket. What does that cost in all?',
    '42.4',
    '41.4',
    '46',
  ],
  ['group', 'Twelve adults cross to Far Skerry together, one way. What do they pay?', '288', '360', '324'],
  [
    'group',
    'Nine adults and two children of 2 cross to North Island together, one way. What do they pay?',
    '108',
    '86.4',
    '120',
  ],
  [
    'group',
    'Ten children of 10 and two adults cross to the Lighthouse together, one way. What do they pay?',
    '100.8',
    '126',
    '113.4',
  ],
  [
    'return',
    'How much does an adult save with a return ticket to North Island instead of two single ones?',
    '2.4',
    '1.2',
    '21.6',
  ],
  [
    'single',
    'How many adults can cross to the Lighthouse, one way, for 100 crowns in all?',
    '5',
    '6',
    '5.56',
  ],
  [
    'bicycle',
    'Two adults with a bicycle each cross to Far Skerry, one way. What do they pay in all?',
    '76',
    '68',
    '92',
  ],
]

const questions = rows
  .map(([topic, question, answer, ...wrong], index): GivenQuestion => {
    const id = `ferry-${index + 1}`
    return { id, question, context: rules, tables: [fares], answer, wrong, metadata: { topic } }
  })
  .map((row) => `${JSON.stringify(row)}\n`)
  .join('')

const readme = `# Ferry fares

A small task for MAGIC: ten questions about the tariff of a ferry, each with its answer.

    magic train                      # learns how to organise agents for such questions
    magic eval <run> --split test    # proves it on the questions that were held out
    magic ask <run> "A crossing costs 6 crowns, a return ticket twice that less 10 %. What does it cost?"

\`magic train\` says at its end what the run is called. As it stands everything runs on the simulated model: no key, no
cost, and numbers that say nothing about a real model.

| file | what it is |
|---|---|
| \`magic.config.ts\` | the questions, the model, the training settings |
| \`questions.jsonl\` | a question per line: \`question\`, \`answer\`, here with \`context\`, \`tables\` and tempting \`wrong\` answers |
| \`.env.example\` | copy it to \`.env\` and put your key there; \`.env\` stays out of git |

## Make it yours

1. Put your questions into \`questions.jsonl\`. A few dozen are a beginning, a hundred or more are better. About 70 % are
   learned from and the rest held out, unless each names its \`split\`.
2. Take \`answer\` out of \`magic.config.ts\`, or set it to what your answers are.
3. Choose a model and a budget in \`magic.config.ts\`, put the key into \`.env\`, and run \`magic train\` again.

\`wrong\` serves the simulated model only. The policy, the agents and their prompts never see an answer.
`

const environment = `# Copy this file to .env and fill in the key of the provider that magic.config.ts names.
DEEPSEEK_API_KEY=
# DASHSCOPE_API_KEY=
# OPENAI_API_KEY=
`

export const initFiles: Readonly<Record<InitFileName, string>> = {
  'magic.config.ts': configuration,
  'questions.jsonl': questions,
  'README.md': readme,
  '.env.example': environment,
  '.gitignore': 'runs/\n.env\n',
}
