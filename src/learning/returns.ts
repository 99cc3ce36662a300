import { requireFinite } from './finite.ts'
import type { Trajectory } from './trajectory.ts'

/**
 * Discounted returns-to-go, one per action, computed backward: STOP's return is the sum of the two terminal rewards,
 * and G_t = r_t + η G_{t+1} before it. η must be the one that shaped the rewards, or shaping would not cancel.
 */
export function returnsToGo({
  transitions,
  terminal_reward,
  terminal_shaping_reward,
  settings,
}: Pick<Trajectory, 'terminal_reward' | 'terminal_shaping_reward' | 'settings'> & {
  readonly transitions: readonly { readonly reward: number }[]
}): number[] {
  const stop = transitions.length
  const returns = new Array<number>(stop + 1)
  returns[stop] = requireFinite(terminal_reward + terminal_shaping_reward, `return of action ${stop}`)
  for (let position = stop - 1; position >= 0; position -= 1) {
    const next = settings.eta * returns[position + 1]!
    returns[position] = requireFinite(transitions[position]!.reward + next, `return of action ${position}`)
  }
  return returns
}
