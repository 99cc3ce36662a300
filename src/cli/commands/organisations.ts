import { Command } from 'commander'
import { runOrganisationNames, runOrganisationSentences } from '../../evaluation/named-organisation.ts'
import { organisations } from '../../organisations/list.ts'
import type { OrganisationDefinition } from '../../organisations/organisation.ts'
import { type Screen, wrapText } from '../display/screen.ts'
import { helpNotes } from '../help-notes.ts'
import { jsonOption } from '../options/common-options.ts'
import { printResult } from '../print.ts'

export function organisationsCommand(): Command {
  return new Command('organisations')
    .description('List the systems that `magic eval` can run, each with its fidelity.')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      helpNotes({
        examples: [
          ['magic organisations'],
          ['magic eval first --organisation trained,llm-debate,dylan'],
          [
            'magic eval synthetic --organisation direct,self-consistency:answers=3,llm-debate:agents=5:rounds=3',
          ],
        ],
        notes: [
          'A system either organises (it chooses a graph per question before anything runs) or drives (it decides while it runs). Its fidelity says what we wrote it from: the method section of a paper, released code, or our adaptation of an idea. docs/organisations.md lists sources and differences.',
        ],
      }),
    )
    .action((options: { readonly json: boolean }) => list(options))
}

function list(options: { readonly json: boolean }): void {
  printResult(
    options,
    () => ({
      organisations: organisations.map((one) => {
        const { name, category, description, fidelity, source, differences } = one
        return {
          name,
          category,
          kind: kindOf(one),
          description,
          fidelity,
          source,
          differences,
          options: optionsOf(one),
        }
      }),
      ofRuns: runOrganisationNames.map((name) => ({ name, description: runOrganisationSentences[name] })),
    }),
    (screen) => [
      screen.paint('bold', 'Systems from the literature'),
      ...organisations.flatMap((one) => systemLines(one, screen)),
      screen.paint('bold', 'Organisations of a run'),
      ...runOrganisationNames.flatMap((name) => [
        `  ${screen.paint('bold', name)}`,
        indented(runOrganisationSentences[name], screen),
      ]),
      '',
      'graph:<file> uses one fixed graph for every question.',
    ],
  )
}

function systemLines(one: OrganisationDefinition, screen: Screen) {
  const { name, category, fidelity, description } = one
  const options = optionsOf(one).map(({ name: option, value }) => `${option}=${value}`)
  return [
    `  ${screen.paint('bold', name)}  (${category}; ${kindOf(one)}; fidelity: ${fidelity})`,
    indented(description, screen),
    ...(options.length === 0 ? [] : [indented(options.join('  '), screen)]),
    '',
  ]
}

function indented(text: string, screen: Screen): string {
  return `    ${wrapText(text, screen, '    ')}`
}

function kindOf({ drive, learner }: OrganisationDefinition): string {
  return `${drive === undefined ? 'organises' : 'drives'}${learner === undefined ? '' : ', learns'}`
}

/** Options with their defaults; … stands for a default that depends on the questions. */
function optionsOf({ options }: OrganisationDefinition) {
  const defaults = options.parse({}) as Record<string, unknown>
  return Object.entries(options.shape).map(([name, schema]) => ({
    name,
    value: defaults[name] === undefined ? '…' : String(defaults[name]),
    description: schema.description,
  }))
}
