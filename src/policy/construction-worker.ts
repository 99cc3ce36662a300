// The thread behind `construction-thread.ts`.
import { parentPort, workerData } from 'node:worker_threads'
import type { Action } from '../graph/legality.ts'
import { defineRoleSpace, type RoleShape } from '../library/role-space.ts'
import type { ParameterValues } from '../numerics/parameters.ts'
import { constructionBatch, type GraphOrder } from './construction-batch.ts'
import { ConstructionPolicy, type PolicyOptions } from './policy.ts'

/** A policy as data. */
export interface ThreadData {
  readonly options: Omit<PolicyOptions, 'roles'>
  readonly roles: readonly RoleShape[]
  /** By position of the role that is heard, then of the one that listens. */
  readonly compatible: readonly (readonly boolean[])[]
  readonly parameters: ParameterValues
}

export type ThreadReply =
  | { readonly id: number; readonly actions: readonly Action[] }
  | { readonly id: number; readonly error: unknown }

const { options, roles, compatible, parameters } = workerData as ThreadData
const space = defineRoleSpace(roles, (from, to) => compatible[from]![to]!)
const build = constructionBatch(new ConstructionPolicy({ ...options, roles: space }, parameters))

parentPort!.on('message', async ({ id, order }: { id: number; order: GraphOrder }) => {
  const reply: ThreadReply = await build(order).then(
    ({ steps }) => ({ id, actions: steps.map(({ action }) => action) }),
    (error: unknown) => ({ id, error }),
  )
  parentPort!.postMessage(reply)
})
