import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { cells } from './wording.ts'

/** `world-facts.yaml`, which explains each list. */
interface WorldFacts {
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

export const { animals, instruments, planets, planetSizes, events, terms, features, things, tables } = facts

export const countries = Object.entries(facts.countries).flatMap(([continent, text]) =>
  cells(text).map(([name, capital, city]) => ({ name, capital, city, continent })),
)
export const elements = cells(facts.elements)
export const books = cells(facts.books)
