// Golden values of the construction policy: states, rejected graphs, rewards, expansions and updates. A file's content tells
// what it is; everything the network computes is checked with every implementation.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CaseResult } from './case.ts'
import type { PolicyImplementation } from './policy/implementation.ts'
import { implementations } from './policy/implementations.ts'
import { learningCases } from './policy/learning.ts'
import { describeError } from './policy/outcome.ts'
import { stateCases } from './policy/states.ts'
import { updateCases } from './policy/updates.ts'

export async function* runPolicyCases(
  folder: string,
  asked: readonly PolicyImplementation[] = implementations,
): AsyncGenerator<CaseResult> {
  for (const name of readdirSync(folder).sort()) {
    if (!name.endsWith('.json')) continue
    try {
      yield* casesOf(JSON.parse(readFileSync(join(folder, name), 'utf8')), name, folder, asked)
    } catch (error) {
      yield { name, failure: describeError(error) }
    }
  }
}

async function* casesOf(
  content: unknown,
  name: string,
  folder: string,
  asked: readonly PolicyImplementation[],
): AsyncGenerator<CaseResult> {
  const object = typeof content === 'object' && content !== null ? content : {}
  const has = (...fields: string[]) => fields.some((field) => field in object)
  let cases = 0
  const parts = [
    has('states', 'invalid_graphs') && stateCases(object, name, folder, asked),
    has('cases', 'expansions') && learningCases(object, name),
    has('sequences', 'update') && updateCases(object, name, folder, asked),
  ]
  for (const part of parts) {
    if (part === false) continue
    for await (const result of part) {
      cases += 1
      yield result
    }
  }
  // An empty golden file is a mistake and must not look like success.
  if (cases === 0) yield { name, failure: 'it has no states, learning cases, expansions or updates' }
}
