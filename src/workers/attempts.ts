import type { ChatModel } from '../models/chat-model.ts'
import { costOf } from '../models/prices.ts'
import type { TokenUsage } from '../models/usage.ts'
import type { Budget, Journal } from '../store/budget.ts'
import type { EndedAttempt } from '../store/call-journal.ts'
import { Batches } from '../store/ledger/batches.ts'
import { textArray } from '../store/postgres/array-parameter.ts'
import type { Database } from '../store/postgres/database.ts'

/**
 * Every attempt of a worker to call the model, noted in the database before it is made and again when it has ended. The trainer
 * takes them over into the journal of its run, so that what a run has spent is the sum over all workers, however they ended.
 */
export class SharedAttempts implements Journal {
  readonly earlier = []
  readonly #begun: Batches<{ readonly id: string; readonly atMost: TokenUsage }, void>
  readonly #ended: Batches<{ readonly id: string; readonly ended: EndedAttempt }, void>
  readonly #noting = new Set<Promise<void>>()
  readonly #worker: string
  #next = 0

  constructor(database: Database, ledger: string, worker: string) {
    this.#worker = worker
    const json = (values: readonly unknown[]) => textArray(values.map((value) => JSON.stringify(value)))
    this.#begun = new Batches<{ readonly id: string; readonly atMost: TokenUsage }, void>(async (rows) => {
      await database.query(
        `INSERT INTO magic_work.attempts (id, ledger, worker, at_most)
         SELECT id, $1, $2, at_most::jsonb FROM unnest($3::text[], $4::text[]) AS t (id, at_most) ON CONFLICT DO NOTHING`,
        [ledger, worker, textArray(rows.map(({ id }) => id)), json(rows.map(({ atMost }) => atMost))],
      )
      return rows.map(() => undefined)
    })
    this.#ended = new Batches<{ readonly id: string; readonly ended: EndedAttempt }, void>(async (rows) => {
      await database.query(
        `UPDATE magic_work.attempts AS attempt SET ended = t.ended::jsonb
         FROM unnest($1::text[], $2::text[]) AS t (id, ended) WHERE attempt.id = t.id`,
        [textArray(rows.map(({ id }) => id)), json(rows.map(({ ended }) => ended))],
      )
      return rows.map(() => undefined)
    })
  }

  begin(atMost: TokenUsage): number {
    const number = this.#next
    this.#next += 1
    const noting = this.#begun.add({ id: this.#idOf(number), atMost })
    this.#noting.add(noting)
    noting.catch(() => {}).finally(() => this.#noting.delete(noting))
    return number
  }

  end(number: number, ended: EndedAttempt): void {
    // Without it the attempt counts as lost, with the most that it can have used.
    this.#ended.add({ id: this.#idOf(number), ended }).catch(() => {})
  }

  /** The same model, asked only once its attempt is noted. */
  notedFirst(model: ChatModel): ChatModel {
    const ask: ChatModel['ask'] = async (request, signal) => {
      await Promise.all(this.#noting)
      return model.ask(request, signal)
    }
    return { identity: model.identity, ask }
  }

  /** Resolves once all that ended is in the database. */
  settled(): Promise<void> {
    return this.#ended.settled()
  }

  #idOf(number: number): string {
    return `${this.#worker} ${number}`
  }
}

/** What ends the attempts of workers that are gone; a part of the statement that ends their leases. */
export const loseAttempts = `UPDATE magic_work.attempts SET ended = '{"kind": "lost"}'::jsonb
  FROM ended WHERE attempts.worker = ended.id AND attempts.ended IS NULL`

/** Takes what workers have spent on a ledger over into the run's budget and its journal: each attempt once, also after a kill. */
export async function takeAttempts(
  database: Database,
  ledger: string,
  budget: Pick<Budget, 'note' | 'price'>,
): Promise<void> {
  const rows = await database.query<{ id: string; atMost: string; ended: string }>(
    `SELECT id, at_most AS "atMost", ended FROM magic_work.attempts WHERE ledger = $1 AND ended IS NOT NULL ORDER BY id`,
    [ledger],
  )
  for (const row of rows) {
    const atMost: TokenUsage = JSON.parse(row.atMost)
    const ended: EndedAttempt = JSON.parse(row.ended)
    if (ended.kind === 'lost')
      budget.note(row.id, { ...ended, atMost, cost: costOf(atMost, budget.price, new Date()) }, atMost)
    else budget.note(row.id, ended, atMost)
  }
  if (rows.length === 0) return
  await database.query('DELETE FROM magic_work.attempts WHERE id = ANY ($1::text[])', [
    textArray(rows.map(({ id }) => id)),
  ])
}
