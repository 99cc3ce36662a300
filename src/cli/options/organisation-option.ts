import { basename } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { fixedOrganisation } from '../../evaluation/baseline-organisations.ts'
import { isRunOrganisation, runOrganisationNames } from '../../evaluation/named-organisation.ts'
import { graphKey } from '../../graph/graph-key.ts'
import type { Library } from '../../library/library.ts'
import { organisations } from '../../organisations/list.ts'
import type { GivenOptions, NamedOrganisation } from '../../organisations/open-organisation.ts'
import { readGraphFile } from './input-file.ts'

/** A name with options, or `graph:` with the file of a fixed graph. */
export interface GivenOrganisation {
  /** As typed. */
  readonly text: string
  readonly name: string
  readonly options: GivenOptions
}

export function organisationOption(): Option {
  return new Option(
    '--organisation <names...>',
    'what to evaluate, separated by commas or spaces: see `magic organisations`, or graph:<file> for a fixed graph (default: trained)',
  ).argParser(parseOrganisations)
}

function parseOrganisations(text: string, earlier: readonly GivenOrganisation[] = []): GivenOrganisation[] {
  const given = text.split(',').map((one) => parseOrganisation(one.trim()))
  const all = [...earlier, ...given]
  return all.filter(({ text: own }, place) => all.findIndex((other) => other.text === own) === place)
}

/** Parses `llm-debate`, or `llm-debate:agents=5:rounds=3`. */
export function parseOrganisation(text: string): GivenOrganisation {
  if (isGraphFile(text)) return { text, name: text, options: {} }
  const [name = '', ...settings] = text.split(':')
  const isListed = organisations.some((one) => one.name === name)
  if (!isListed && !isRunOrganisation(name))
    throw new InvalidArgumentError(
      `There is no organisation '${name}'. Choose from ${[...runOrganisationNames, ...organisations.map((one) => one.name)].join(', ')} and graph:<file>.`,
    )
  const options = Object.fromEntries(
    settings.map((setting) => {
      const [option = '', ...value] = setting.split('=')
      if (value.length === 0 || !isListed)
        throw new InvalidArgumentError(
          isListed
            ? `'${setting}' is not an option. Write ${name}:option=value.`
            : `'${name}' has no options.`,
        )
      return [option, readValue(value.join('='))]
    }),
  )
  return { text, name, options }
}

/** A number, true, false, or else the text itself. */
function readValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

export function isGraphFile(name: string): boolean {
  return name.startsWith('graph:')
}

/** The same graph for every question, from a file. */
export async function openGraphFile(name: string, library: Library): Promise<NamedOrganisation> {
  const path = name.slice('graph:'.length)
  const graph = await readGraphFile(path, library)
  const file = basename(path)
  const organisation = fixedOrganisation(`graph:${file}`, `The graph of ${file} for every question.`, graph)
  return { organisation, about: { graph: graphKey(graph).slice(0, 12) } }
}
