import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Task } from '../../library/task.ts'
import type { Dice } from './dice.ts'
import { filled } from './wording.ts'
import { world } from './world-facts.ts'

const sentences: readonly string[] = parse(readFileSync(new URL('notes.yaml', import.meta.url), 'utf8'))

/** A question comes without notes or with this many sentences, each equally often. */
const lengths = [0, 3, 8, 16]

/** What stands beside a question and does not matter for its answer: the more of it, the harder the question is to read. */
export function sideNotes(dice: Dice): Pick<Task, 'context'> {
  const chosen = dice.sample(sentences, dice.pick(lengths))
  if (chosen.length === 0) return {}
  const notes = chosen.map((text) => {
    const [name, other] = dice.sample(world.people, 2).map((person) => person.name)
    return filled(text, { name, other, town: dice.pick(world.towns) })
  })
  return { context: [notes.join(' ')] }
}
