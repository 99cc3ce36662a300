import { bigintArray, floatArray, textArray } from '../postgres/array-parameter.ts'
import type { Database } from '../postgres/database.ts'
import type {
  AllowanceStore,
  Claim,
  Ended,
  RateLimits,
  SharedCap,
  SharedCaps,
  Sums,
  TakenCalls,
} from './allowance-store.ts'

/** For the calls of any number of processes. */
export class PostgresAllowanceStore implements AllowanceStore {
  readonly #database: Database
  readonly #account: string
  readonly #limiter: string

  private constructor(database: Database, account: string, limiter: string) {
    this.#database = database
    this.#account = account
    this.#limiter = limiter
  }

  /** All callers that name the same `account` share its budget; the same `limiter`, its rate limits. */
  static async open(
    database: Database,
    { account, limiter }: { readonly account: string; readonly limiter: string },
  ): Promise<PostgresAllowanceStore> {
    await database.query('INSERT INTO magic.accounts (name) VALUES ($1) ON CONFLICT DO NOTHING', [account])
    await database.query('INSERT INTO magic.limiters (name) VALUES ($1) ON CONFLICT DO NOTHING', [limiter])
    return new PostgresAllowanceStore(database, account, limiter)
  }

  async setCaps({ cost, tokens, calls }: SharedCaps): Promise<void> {
    await this.#database.query(
      'UPDATE magic.accounts SET cap_cost = $2, cap_tokens = $3, cap_calls = $4 WHERE name = $1',
      [this.#account, cost ?? null, tokens ?? null, calls ?? null],
    )
  }

  async setLimits({ requestsPerMinute, tokensPerMinute }: RateLimits): Promise<void> {
    await this.#database.query(
      `UPDATE magic.limiters SET requests_per_minute = coalesce($2, requests_per_minute),
         tokens_per_minute = coalesce($3, tokens_per_minute) WHERE name = $1`,
      [this.#limiter, requestsPerMinute ?? null, tokensPerMinute ?? null],
    )
  }

  async take(claims: readonly Claim[], leaseMs: number): Promise<TakenCalls> {
    const [taken] = await this.#database.query<{ admitted: number; waitMs: number; cap: SharedCap | null }>(
      `SELECT admitted, wait_ms AS "waitMs", cap FROM magic.take_allowance(
         $1, $2, make_interval(secs => $3::float8 / 1000), $4::text[]::uuid[], $5::bigint[], $6::bigint[], $7::float8[])`,
      [
        ...[this.#account, this.#limiter, leaseMs],
        textArray(claims.map(({ id }) => id)),
        bigintArray(claims.map(({ input }) => input)),
        bigintArray(claims.map(({ output }) => output)),
        floatArray(claims.map(({ money }) => money)),
      ],
    )
    const { admitted, waitMs, cap } = taken!
    return { admitted, waitMs, ...(cap !== null && { cap }) }
  }

  async settle(ended: readonly Ended[]): Promise<void> {
    const told = ended.map(({ used, refused, ...rest }) => ({
      ...{ ...rest, ...used, ...refused },
      isRefused: refused !== undefined,
    }))
    await this.#database.query('SELECT magic.settle_allowance($1, $2, $3::jsonb)', [
      ...[this.#account, this.#limiter, JSON.stringify(told)],
    ])
  }

  async sums(): Promise<Sums> {
    await this.#database.query('SELECT magic.expire_reservations($1)', [this.#account])
    const [row] = await this.#database.query<Record<string, number>>(
      `SELECT calls, input, cached_input AS "cachedInput", output, accounts.money, unknown_attempts, unknown_tokens,
              unknown_money, reserved.*
       FROM magic.accounts, (
         SELECT count(*) AS reserved_calls, coalesce(sum(tokens), 0)::bigint AS reserved_tokens,
                coalesce(sum(money), 0) AS reserved_money
         FROM magic.reservations WHERE account = $1 AND NOT is_lost) AS reserved
       WHERE name = $1`,
      [this.#account],
    )
    const { calls, input, cachedInput, output, money, ...rest } = row as Record<string, number>
    return {
      ...({ calls, input, cachedInput, output, money } as Omit<Sums, 'unknown' | 'reserved'>),
      unknown: {
        attempts: rest['unknown_attempts']!,
        tokens: rest['unknown_tokens']!,
        money: rest['unknown_money']!,
      },
      reserved: {
        calls: rest['reserved_calls']!,
        tokens: rest['reserved_tokens']!,
        money: rest['reserved_money']!,
      },
    }
  }
}
