import { basename } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import {
  type NamedOrganisation,
  type OrganisationName,
  organisationNames,
} from '../../evaluation/named-organisation.ts'
import { fixedOrganisation } from '../../evaluation/organisation.ts'
import { graphKey } from '../../graph/graph-key.ts'
import type { Library } from '../../library/library.ts'
import { readGraphFile } from './input-file.ts'

type GraphFile = `graph:${string}`

/** A name, or `graph:` and the file of a fixed graph. */
export type GivenOrganisation = OrganisationName | GraphFile

export function organisationOption(): Option {
  const names = organisationNames.join(', ')
  return new Option(
    '--organisation <names...>',
    `which ones, with commas or repeated: ${names}, graph:<file> (default: trained)`,
  ).argParser(parseOrganisations)
}

function parseOrganisations(text: string, earlier: readonly GivenOrganisation[] = []): GivenOrganisation[] {
  const names = text.split(',').map((name) => name.trim())
  const known: readonly string[] = organisationNames
  const unknown = names.find((name) => !known.includes(name) && !isGraphFile(name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`'${unknown}' is none of ${known.join(', ')} and graph:<file>.`)
  return [...new Set([...earlier, ...(names as GivenOrganisation[])])]
}

export function isGraphFile(name: string): name is GraphFile {
  return name.startsWith('graph:')
}

/** One graph for every question, from a file. */
export async function openGraphFile(name: GraphFile, library: Library): Promise<NamedOrganisation> {
  const path = name.slice('graph:'.length)
  const graph = await readGraphFile(path, library)
  const file = basename(path)
  const organisation = fixedOrganisation(`graph:${file}`, `The graph of ${file} for every question.`, graph)
  return { organisation, about: { graph: graphKey(graph).slice(0, 12) } }
}
