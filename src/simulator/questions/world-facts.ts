import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Dice } from './dice.ts'
import { cells, entries, filled } from './wording.ts'

/** `world-facts.yaml`, which explains each list. */
interface WorldFacts {
  readonly people: Readonly<Record<string, string>>
  readonly towns: string
  readonly countries: Readonly<Record<string, string>>
  readonly elements: string
  readonly animals: Readonly<Record<string, readonly string[]>>
  readonly instruments: Readonly<Record<string, readonly string[]>>
  readonly planets: readonly string[]
  readonly planetSizes: readonly number[]
  readonly books: string
  readonly events: readonly string[]
  readonly terms: readonly (readonly [term: string, description: string, mistaken: string])[]
  readonly features: Readonly<Record<string, string>>
  readonly things: Readonly<Record<string, readonly string[]>>
  readonly tables: readonly TableTheme[]
  readonly wordings: Readonly<Record<string, readonly string[]>>
}

interface TableTheme {
  readonly members: string
  readonly member: string
  readonly names: string
  readonly named: string
  readonly measures: string
  readonly largest: number
}

const facts: WorldFacts = parse(readFileSync(new URL('world-facts.yaml', import.meta.url), 'utf8'))

export const world = {
  ...facts,
  people: Object.entries(facts.people).flatMap(([pronouns, names]) => {
    const [they, their] = pronouns.split('/')
    return entries(names).map((name) => ({ name, they, their }))
  }),
  towns: entries(facts.towns),
  countries: Object.entries(facts.countries).flatMap(([continent, text]) =>
    cells(text).map(([name, capital, city]) => ({ name, capital, city, continent })),
  ),
  elements: cells(facts.elements),
  books: cells(facts.books).map(([title, author]) => [`“${title}”`, author]),
}

/** One of the ways to put a question. All of them name the same person. */
export function worded(dice: Dice, key: string, values: Readonly<Record<string, unknown>>): string {
  const wordings = world.wordings[key]
  const person =
    wordings.some((text) => text.includes('{name}')) && !('name' in values) && dice.pick(world.people)
  const texts = wordings.map((text) => {
    const town = text.includes('{town}') && { town: dice.pick(world.towns) }
    return filled(text, { ...person, ...town, ...values })
  })
  return texts.length === 1 ? texts[0] : dice.pick(texts)
}
