// node matrix.ts [POINTS]: trainings by workers in which something goes wrong, at many moments and in every way. POINTS is how many
// there are in all, about; 112 by default.
import { parseArgs } from 'node:util'
import { deriveRandom } from '../../src/numerics/random.ts'
import { faults, Stage } from './stage.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const each = Math.max(1, Math.round(Number(positionals[0] ?? 112) / faults.length))
const stage = await Stage.open()
const tally = { points: 0, bad: 0, repeated: 0, asked: 0 }
try {
  for (let round = 0; round < each; round += 1) {
    for (const fault of faults) {
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
