import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Library } from '../library/library.ts'
import { Problem } from '../problem.ts'
import { readLines } from '../store/durable-file.ts'
import type { RunFolder } from '../store/run-folder.ts'
import { atomicRoles } from './agents.ts'

const trialHeader = z.object({
  organisation: z.string(),
  split: z.string(),
  about: z.record(z.string(), z.unknown()),
})

/** DyLAN's record of its agents: their roles, and each agent's importance by number. */
const trialRecord = z.object({
  graph: z.object({ units: z.array(z.object({ role: z.string(), agent: z.int().optional() })) }),
  notes: z.object({ importance: z.record(z.string(), z.number()) }).optional(),
})

/**
 * The paper's team selection: the roles with the highest importance, summed over the questions of a trial. The trial is a
 * stored evaluation of DyLAN with a larger team, preferably on training questions.
 */
export function teamFromTrial(trial: RunFolder, size: number, library: Library): string[] {
  const { evaluationsFolder, path } = trial
  if (!existsSync(path)) throw new Problem(`There is no run in ${path} to use as dylan's trial.`)
  const trials = (existsSync(evaluationsFolder) ? readdirSync(evaluationsFolder) : [])
    .map((name) => join(evaluationsFolder, name))
    .filter((folder) => existsSync(join(folder, 'evaluation.json')))
    .map((folder) => ({
      folder,
      ...trialHeader.parse(JSON.parse(readFileSync(join(folder, 'evaluation.json'), 'utf8'))),
    }))
    .filter(
      ({ organisation, about }) => /^dylan(?::|$)/.test(organisation) && about['teamSelection'] !== 'paper',
    )
  const chosen = trials.findLast(({ split }) => split === 'train') ?? trials.at(-1)
  const sums = new Map<string, number>()
  for (const line of chosen === undefined ? [] : readLines(join(chosen.folder, 'records.jsonl'))) {
    const { graph, notes } = trialRecord.parse(line)
    for (const [agent, importance] of Object.entries(notes?.importance ?? {})) {
      const role = graph.units.find((unit) => unit.agent === Number(agent))?.role
      if (role !== undefined) sums.set(role, (sums.get(role) ?? 0) + importance)
    }
  }
  // Ties go to the role that comes first in the library.
  const ranked = atomicRoles(library)
    .filter((role) => sums.has(role))
    .toSorted((one, other) => sums.get(other)! - sums.get(one)!)
  if (ranked.length >= size) return ranked.slice(0, size)
  throw new Problem(
    `The trial in ${path} only has the importance of ${ranked.length} roles, too few for a team of ${size}. Evaluate a larger team first: \`magic eval RUN --split train --organisation dylan:agents=${size + 3}\`, then name that run as trial.`,
  )
}
