import type { Command } from 'commander'
import {
  isRunOrganisation,
  type RunOrganisationName,
  runOrganisationNames,
  runOrganisationSentences,
} from '../../evaluation/named-organisation.ts'
import { organisations } from '../../organisations/list.ts'
import { organisationCalled } from '../../organisations/open-organisation.ts'
import type { OrganisationDefinition } from '../../organisations/organisation.ts'
import { type Screen, wrapText } from '../display/screen.ts'
import { NotedCommand } from '../help-notes.ts'
import { jsonOption } from '../options/common-options.ts'
import { printResult } from '../print.ts'

export function organisationsCommand(): Command {
  return new NotedCommand('organisations')
    .description('List the systems that `magic eval` can run, each with its fidelity.')
    .argument('[name]', 'show only this one, with its source, differences and options')
    .addOption(jsonOption())
    .notes({
      examples: [
        ['magic organisations'],
        ['magic organisations dylan', 'all about one'],
        ['magic eval first --organisation trained,llm-debate,dylan'],
        [
          'magic eval synthetic --organisation direct,self-consistency:answers=3,llm-debate:agents=5:rounds=3',
        ],
      ],
      notes: [
        'A system either organises (it chooses a graph per question before anything runs) or drives (it decides while it runs). Its fidelity says what we wrote it from: the method section of a paper, released code, or our adaptation of an idea. docs/organisations.md lists sources and differences.',
      ],
    })
    .action((name: string | undefined, options: { readonly json: boolean }) => {
      if (name === undefined) list(options)
      else if (isRunOrganisation(name)) showOneOfRuns(name, options)
      else showOne(organisationCalled(name), options)
    })
}

function toldOf(one: OrganisationDefinition) {
  const { name, category, description, fidelity, source, differences } = one
  const told = { name, category, kind: kindOf(one), description, fidelity, source, differences }
  return { ...told, options: optionsOf(one) }
}

function showOneOfRuns(name: RunOrganisationName, options: { readonly json: boolean }): void {
  const description = runOrganisationSentences[name]
  printResult(options, { organisations: [], ofRuns: [{ name, description }] }, (screen) => [
    `${screen.paint('bold', name)}  (an organisation of a run)`,
    indented(description, screen),
    '',
    `Evaluate it with \`magic eval RUN --organisation ${name}\`.`,
  ])
}

function showOne(one: OrganisationDefinition, options: { readonly json: boolean }): void {
  const told = toldOf(one)
  printResult(options, { organisations: [told], ofRuns: [] }, (screen) => [
    `${screen.paint('bold', told.name)}  (${told.category}; ${told.kind})`,
    indented(told.description, screen),
    '',
    `${screen.paint('bold', 'Fidelity')}  ${told.fidelity}`,
    indented(told.source, screen),
    told.differences.length > 0 && [
      '',
      screen.paint('bold', 'Differences from the source'),
      ...told.differences.map((difference) => indented(difference, screen)),
    ],
    told.options.length > 0 && [
      '',
      screen.paint('bold', `Options, as ${told.name}:option=value`),
      ...told.options.map(({ name, value, description = '' }) =>
        indented(`${name}=${value}  ${description}`, screen),
      ),
    ],
  ])
}

function list(options: { readonly json: boolean }): void {
  printResult(
    options,
    {
      organisations: organisations.map(toldOf),
      ofRuns: runOrganisationNames.map((name) => ({ name, description: runOrganisationSentences[name] })),
    },
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
