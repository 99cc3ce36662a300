import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Task } from '../../library/task.ts'
import type { Dice } from './dice.ts'
import { filled } from './wording.ts'
import { world } from './world-facts.ts'

const sentences: readonly string[] = parse(readFileSync(new URL('notes.yaml', import.meta.url), 'utf8'))

/** Possible numbers of sentences, each equally likely. */
const lengths = [0, 3, 8, 16]

/** Irrelevant text next to a question: the more of it, the harder the question is to read. */
export function sideNotes(dice: Dice): Pick<Task, 'context'> {
  const chosen = dice.sample(sentences, dice.pick(lengths))
  if (chosen.length === 0) return {}
  const notes = chosen.map((text) => {
    const [name, other] = dice.sample(world.people, 2).map((person) => person.name)
    return filled(text, { name, other, town: dice.pick(world.towns) })
  })
  return { context: [notes.join(' ')] }
}
