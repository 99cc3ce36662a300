// node matrix.ts [POINTS] [--only FAULT]: trainings by workers in which something goes wrong, in every way
// and at many moments. About POINTS of them, 112 by default.
import { parseArgs } from 'node:util'
import { deriveRandom } from '../../src/numerics/random.ts'
import { faults, Stage } from './stage.ts'

const { positionals, values } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' } } })
const chosen = faults.filter((fault) => values.only === undefined || fault === values.only)
const each = Math.max(1, Math.round(Number(positionals[0] ?? 112) / chosen.length))
const stage = await Stage.open()
const tally = { points: 0, bad: 0, repeated: 0, asked: 0 }
try {
  for (let round = 0; round < each; round += 1) {
    for (const fault of chosen) {
      const after = Math.floor(deriveRandom(7, fault, round).uniform() * 40)
      tally.points += 1
      try {
        const { repeated, asked } = await stage.point(fault, after)
        tally.repeated += repeated
        tally.asked += asked
        console.log(`${fault} after ${after} calls: ${repeated} of ${asked} repeated`)
      } catch (error) {
        tally.bad += 1
        console.log(`${fault} after ${after} calls: ${(error as Error).message}`)
      }
    }
  }
} finally {
  await stage.close()
}
console.log(`${tally.points} points, ${tally.bad} bad, ${tally.repeated} of ${tally.asked} calls repeated`)
process.exit(tally.bad === 0 ? 0 : 1)
