import { z } from 'zod'
import { rewardSettings } from '../../src/settings/rewards.ts'

/** Converts reward settings from golden files into ours. */
export const goldenReward = z
  .object({
    alpha: z.number(),
    beta: z.number(),
    gamma_r: z.number(),
    eta: z.number(),
    kappa: z.number(),
    w_n: z.number(),
    w_e: z.number(),
    b_n: z.number(),
    b_e: z.number(),
    epsilon: z.number(),
  })
  .transform(({ gamma_r, w_n, w_e, b_n, b_e, ...same }) =>
    rewardSettings({
      ...same,
      gammaR: gamma_r,
      nodeWeight: w_n,
      edgeWeight: w_e,
      nodeAllowance: b_n,
      edgeAllowance: b_e,
    }),
  )
