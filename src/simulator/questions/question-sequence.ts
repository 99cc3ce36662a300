import { deriveRandom } from '../../numerics/random.ts'
import { TaskSetError } from '../../tasks/task-set.ts'
import { Dice } from './dice.ts'
import type { QuestionMaker, SyntheticQuestion } from './synthetic-question.ts'

const attempts = 600

/**
 * The first questions of a family. Each depends on seed, family and its own number, not on the count; a question
 * whose text already occurred is drawn again. Even numbers are for training and odd ones for testing, so that neither
 * split depends on the size of the other.
 */
export function questionSequence(
  seed: number,
  family: string,
  makers: readonly QuestionMaker[],
  count: number,
): SyntheticQuestion[] {
  const used = new Set<string>()
  return Array.from({ length: count }, (_, number) => {
    const shape = shapeOf(seed, family, makers.length, number)
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const dice = new Dice(deriveRandom(seed, 'synthetic', family, number, attempt))
      // If a shape runs out of new texts, any shape is used.
      const made = makers[attempt < attempts / 3 ? shape : dice.integer(0, makers.length - 1)](dice)
      if (made === undefined || used.has(made.task.question)) continue
      used.add(made.task.question)
      return made
    }
    throw new TaskSetError(
      `The synthetic family '${family}' has no more than ${number} different questions for seed ${seed}. Ask for fewer.`,
    )
  })
}

/** In each split the shapes take turns, in individually shuffled rounds. */
function shapeOf(seed: number, family: string, shapes: number, number: number): number {
  const [split, place] = [number % 2, Math.floor(number / 2)]
  const round = Math.floor(place / shapes)
  const dice = new Dice(deriveRandom(seed, 'synthetic-round', family, split, round))
  return dice.shuffle([...Array(shapes).keys()])[place % shapes]
}
