import {
  growthPerMinute,
  longestPauseMs,
  newestShare,
  recentMs,
  refusedShare,
  shortestPauseMs,
  slackMs,
  usualOutput,
} from '../allowance/allowance-store.ts'

/** Budgets and providers' limits for all processes that share them. */
export const allowanceTables = `
  CREATE TABLE magic.accounts (
    name text PRIMARY KEY,
    cap_cost double precision,
    cap_tokens double precision,
    cap_calls double precision,
    calls bigint NOT NULL DEFAULT 0,
    input bigint NOT NULL DEFAULT 0,
    cached_input bigint NOT NULL DEFAULT 0,
    output bigint NOT NULL DEFAULT 0,
    money double precision NOT NULL DEFAULT 0,
    unknown_attempts bigint NOT NULL DEFAULT 0,
    unknown_tokens bigint NOT NULL DEFAULT 0,
    unknown_money double precision NOT NULL DEFAULT 0
  );
  CREATE TABLE magic.limiters (
    name text PRIMARY KEY,
    requests_per_minute double precision,
    tokens_per_minute double precision,
    next_request timestamptz NOT NULL DEFAULT 'epoch',
    next_token timestamptz NOT NULL DEFAULT 'epoch',
    closed_until timestamptz NOT NULL DEFAULT 'epoch',
    learned_per_minute double precision, -- after it has refused
    learned_at timestamptz,
    recent double precision NOT NULL DEFAULT 0,
    recent_at timestamptz NOT NULL DEFAULT now(),
    average_output double precision
  );
  CREATE TABLE magic.reservations (
    id uuid PRIMARY KEY,
    account text NOT NULL,
    tokens bigint NOT NULL, -- the most that the call can use
    money double precision NOT NULL,
    expected double precision NOT NULL, -- what the limiter has counted
    expires_at timestamptz NOT NULL,
    is_lost boolean NOT NULL DEFAULT false
  );
  CREATE INDEX reservations_by_account ON magic.reservations (account, expires_at) WHERE NOT is_lost;

  CREATE FUNCTION magic.expire_reservations(an_account text) RETURNS void LANGUAGE sql AS $function$
    WITH lost AS (
      UPDATE magic.reservations SET is_lost = true
      WHERE account = an_account AND NOT is_lost AND expires_at < clock_timestamp() RETURNING tokens, money
    ), sums AS (SELECT count(*) AS attempts, sum(tokens) AS tokens, sum(money) AS money FROM lost)
    UPDATE magic.accounts SET unknown_attempts = unknown_attempts + sums.attempts,
      unknown_tokens = unknown_tokens + sums.tokens, unknown_money = unknown_money + sums.money
    FROM sums WHERE name = an_account AND sums.attempts > 0
  $function$;
`

const slack = `interval '${slackMs} ms'`
const epoch = (interval: string) => `extract(epoch FROM ${interval})::double precision`
// PostgreSQL raises an error where a number becomes too large or too small, so every power has a bound.
const recent = `CASE WHEN l.recent < 1e-9 OR moment - l.recent_at > interval '${100 * recentMs} ms' THEN 0
      ELSE l.recent * exp(-${epoch('moment - l.recent_at')} * 1000 / ${recentMs}) END`
const grownMinutes = `least(100, greatest(0, ${epoch('moment - l.learned_at')} / 60))`
const pause = (refusals: string) =>
  `least(${longestPauseMs}, ${shortestPauseMs} * 2 ^ least(${refusals} - 1, 20)) * interval '1 ms'`

/**
 * The counterpart of `memory-store.ts`. Each function is one statement, so no process can be stopped while it holds a lock.
 * Time is the database's own. The account is always locked first. A later change of a function is a step of its own.
 */
export const allowanceRules = `
  ALTER TABLE magic.limiters
    ADD COLUMN refusals integer NOT NULL DEFAULT 0, -- since the last answer
    ADD COLUMN refused_at timestamptz NOT NULL DEFAULT 'epoch',
    ADD COLUMN is_tested boolean NOT NULL DEFAULT true; -- a call has gone ahead since then
  ALTER TABLE magic.reservations ADD COLUMN admitted_at timestamptz NOT NULL DEFAULT now();

  CREATE OR REPLACE FUNCTION magic.take_allowance(
    an_account text, a_limiter text, lease interval, ids uuid[], inputs bigint[], outputs bigint[], moneys double precision[],
    OUT admitted integer, OUT wait_ms double precision, OUT cap text
  ) LANGUAGE plpgsql AS $function$
  DECLARE
    a magic.accounts;
    l magic.limiters;
    moment timestamptz;
    per_minute double precision;
    expected double precision;
    wait interval := '0';
  BEGIN
    PERFORM FROM magic.accounts WHERE name = an_account FOR UPDATE;
    PERFORM magic.expire_reservations(an_account);
    SELECT * INTO STRICT a FROM magic.accounts WHERE name = an_account;
    SELECT * INTO STRICT l FROM magic.limiters WHERE name = a_limiter FOR UPDATE;
    moment := clock_timestamp();
    admitted := (SELECT count(*) FROM magic.reservations WHERE id = ANY (ids));
    wait_ms := 0;
    cap := CASE WHEN a.money + a.unknown_money >= a.cap_cost THEN 'cost'
                WHEN a.input + a.output + a.unknown_tokens >= a.cap_tokens THEN 'tokens'
                WHEN a.calls >= a.cap_calls THEN 'calls' END;
    IF cap IS NOT NULL THEN RETURN; END IF;
    per_minute := least(l.requests_per_minute, l.learned_per_minute * ${growthPerMinute} ^ ${grownMinutes});
    l.recent := ${recent};
    l.recent_at := moment;
    WHILE admitted < cardinality(ids) LOOP
      wait := greatest(l.closed_until, l.next_request - ${slack}, l.next_token - ${slack}) - moment;
      EXIT WHEN wait > '0';
      admitted := admitted + 1;
      expected := inputs[admitted] + least(outputs[admitted], coalesce(l.average_output, ${usualOutput}));
      -- Adds nothing if there is no limit.
      l.next_request := greatest(l.next_request, moment) + make_interval(secs => coalesce(60 / per_minute, 0));
      l.next_token := greatest(l.next_token, moment)
        + make_interval(secs => coalesce(60 * expected / l.tokens_per_minute, 0));
      l.recent := l.recent + 1;
      -- After a refusal one call goes ahead. The others follow unless it is refused as well.
      IF NOT l.is_tested THEN l.closed_until := moment + ${pause('1')}; END IF;
      l.is_tested := true;
      INSERT INTO magic.reservations (id, account, tokens, money, expected, admitted_at, expires_at)
      VALUES (ids[admitted], an_account, inputs[admitted] + outputs[admitted], moneys[admitted], expected, moment,
        moment + lease);
    END LOOP;
    IF admitted < cardinality(ids) THEN wait_ms := greatest(0, ${epoch('wait')} * 1000); END IF;
    UPDATE magic.limiters SET next_request = l.next_request, next_token = l.next_token, closed_until = l.closed_until,
      is_tested = l.is_tested, recent = l.recent, recent_at = l.recent_at WHERE name = a_limiter;
  END
  $function$;

  CREATE OR REPLACE FUNCTION magic.settle_allowance(an_account text, a_limiter text, ended jsonb) RETURNS void
  LANGUAGE plpgsql AS $function$
  DECLARE
    l magic.limiters;
    moment timestamptz;
    one record;
    wait interval;
  BEGIN
    PERFORM FROM magic.accounts WHERE name = an_account FOR UPDATE;
    PERFORM magic.expire_reservations(an_account);
    SELECT * INTO STRICT l FROM magic.limiters WHERE name = a_limiter FOR UPDATE;
    moment := clock_timestamp();
    l.recent := ${recent};
    l.recent_at := moment;
    FOR one IN
      WITH told AS (
        SELECT * FROM jsonb_to_recordset(ended) AS t (id uuid, "isAnswered" boolean, "isUnknown" boolean, input bigint,
          "cachedInput" bigint, output bigint, money double precision, "isRefused" boolean, "waitMs" double precision)
      ), gone AS (
        DELETE FROM magic.reservations USING told WHERE reservations.id = told.id
        RETURNING reservations.id, tokens, reservations.money AS most, expected, is_lost, admitted_at
      ) SELECT * FROM told JOIN gone USING (id)
    LOOP
      UPDATE magic.accounts SET
        calls = calls + one."isAnswered"::integer,
        input = accounts.input + coalesce(one.input, 0),
        cached_input = cached_input + coalesce(one."cachedInput", 0),
        output = accounts.output + coalesce(one.output, 0),
        money = accounts.money + coalesce(one.money, 0),
        unknown_attempts = unknown_attempts + (one."isUnknown"::integer - one.is_lost::integer),
        unknown_tokens = unknown_tokens + (one."isUnknown"::integer - one.is_lost::integer) * one.tokens,
        unknown_money = unknown_money + (one."isUnknown"::integer - one.is_lost::integer) * one.most
      WHERE name = an_account;
      IF one.input IS NOT NULL THEN
        l.next_token := l.next_token
          + make_interval(secs => coalesce(60 * (one.input + one.output - one.expected) / l.tokens_per_minute, 0));
        l.average_output := coalesce(l.average_output, one.output)
          + ${newestShare} * (one.output - coalesce(l.average_output, one.output));
      END IF;
      -- A call from before the refusal says nothing about the limit now.
      IF one."isAnswered" AND one.admitted_at > l.refused_at THEN l.refusals := 0; END IF;
      IF one."isRefused" THEN
        l.recent := greatest(0, l.recent - 1);
        wait := make_interval(secs => one."waitMs" / 1000);
        -- Calls that were under way at the last refusal belong to it.
        IF one.admitted_at > l.refused_at THEN
          l.refusals := l.refusals + 1;
          l.refused_at := moment;
          l.is_tested := false;
          IF l.refusals = 1 THEN
            l.learned_per_minute := greatest(1, ${refusedShare} *
              greatest(l.recent * 60000 / ${recentMs}, coalesce(l.learned_per_minute, 0)));
          END IF;
          wait := coalesce(wait, ${pause('l.refusals')});
        END IF;
        l.closed_until := greatest(l.closed_until, moment + coalesce(wait, '0'));
        l.learned_at := l.closed_until;
      END IF;
    END LOOP;
    UPDATE magic.limiters SET next_token = l.next_token, average_output = l.average_output, closed_until = l.closed_until,
      refusals = l.refusals, refused_at = l.refused_at, is_tested = l.is_tested, learned_per_minute = l.learned_per_minute, learned_at = l.learned_at,
      recent = l.recent, recent_at = l.recent_at WHERE name = a_limiter;
  END
  $function$;
`
