// Our own roles, one of which may use our own tool.
//   magic train --config examples/own-roles-and-tool/magic.config.ts --name tides
//   magic ask tides "How many minutes after midnight is the first high water in Hamn on day 20 of the month?"
import { defineConfig, defineLibrary } from 'magic-agents'
import { tideTable } from './tide-table.ts'

const library = defineLibrary(
  {
    roles: [
      {
        id: 'harbour_master',
        description: 'Looks up tides and answers from the table.',
        produces: ['result'],
        atomic: {
          id: 'harbour_master',
          responsibility: 'Look up the port and the day, and answer from the table.',
          tools: ['tide_table'],
          prompt:
            'You answer questions about tides. Use tide_table, if available. Answer null if it has no such port.',
        },
      },
      {
        id: 'second_reader',
        description: 'Checks that port, day and unit are those of the question.',
        accepts: ['result'],
        produces: ['result'],
        atomic: {
          id: 'second_reader',
          responsibility: 'Read the question once more and check what your predecessors looked up.',
          prompt:
            'You check that port, day and unit are those that the question asks for. Correct what is not.',
        },
      },
    ],
  },
  { tools: ['tide_table'] },
)

export default defineConfig({
  name: 'tides',
  tasks: 'questions.jsonl',
  answer: 'number',
  library,
  profile: { roles: ['harbour_master', 'second_reader'], tools: ['tide_table'] },
  tools: [tideTable],
  preset: 'values',
  training: { evaluations: 60, hidden: 32 },
})
