import { Command } from 'commander'
import { runOrganisationNames, runOrganisationSentences } from '../../evaluation/named-organisation.ts'
import { organisations } from '../../organisations/list.ts'
import type { OrganisationDefinition } from '../../organisations/organisation.ts'
import { type Screen, wrapText } from '../display/screen.ts'
import { jsonOption } from '../options/common-options.ts'
import { printResult } from '../print.ts'

export function organisationsCommand(): Command {
  return new Command('organisations')
    .description('List the systems that `magic eval` can run, each with a sentence and its fidelity.')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Examples:
  magic organisations
  magic eval first --organisation trained,llm-debate,dylan
  magic eval synthetic --organisation direct,self-consistency:answers=3,llm-debate:agents=5:rounds=3

A system organises (a graph per question, before anything runs) or drives (it decides while it runs). Its fidelity says
what its recipe was written from: a paper's method section, released code, or our own adaptation of an idea;
docs/organisations.md lists sources and differences.`,
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
      screen.paint('bold', 'Systems of the literature'),
      ...organisations.flatMap((one) => systemLines(one, screen)),
      screen.paint('bold', 'Of a run'),
      ...runOrganisationNames.flatMap((name) => [
        `  ${screen.paint('bold', name)}`,
        indented(runOrganisationSentences[name], screen),
      ]),
      '',
      wrapText('graph:<file> is one fixed graph for every question.', screen),
    ],
  )
}

function systemLines(one: OrganisationDefinition, screen: Screen) {
  const { name, category, fidelity, description } = one
  const options = optionsOf(one).map(({ name: option, value }) => `${option}=${value}`)
  return [
    `  ${screen.paint('bold', name)} · ${category} · ${kindOf(one)} · ${fidelity}`,
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

/** With their defaults; what has none is chosen by the questions. */
function optionsOf({ options }: OrganisationDefinition) {
  const defaults = options.parse({}) as Record<string, unknown>
  return Object.entries(options.shape).map(([name, schema]) => ({
    name,
    value: defaults[name] === undefined ? '…' : String(defaults[name]),
    description: schema.description,
  }))
}
