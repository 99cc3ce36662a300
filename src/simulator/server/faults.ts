import { deriveRandom } from '../../numerics/random.ts'
import { Problem } from '../../problem.ts'

/** The faults of the simulated server, described for the command's help. */
export const faultKinds = {
  '429': 'refuses with "rate limit reached"',
  '500': 'fails with an internal error',
  '503': 'is overloaded and says so in HTML',
  reset: 'closes the connection without an answer',
  hang: 'never answers',
  drip: 'sends the answer byte by byte',
  truncate: 'breaks off in the middle of the body',
  broken_json: 'sends a body that is not JSON',
  bad_text: 'answers properly, but the model text is not JSON',
  cut_off: 'answers properly, but the model text ends at the output limit',
} as const satisfies Record<string, string>

export type FaultKind = keyof typeof faultKinds

export type FaultRates = Readonly<Partial<Record<FaultKind, number>>>

/** Rates from `kind=rate` texts of the command line. */
export function parseFaultRates(texts: readonly string[]): FaultRates {
  const rates: Partial<Record<FaultKind, number>> = {}
  for (const text of texts) {
    const [kind = '', rate = '', ...rest] = text.split('=')
    if (!Object.hasOwn(faultKinds, kind))
      throw unusable(`there is no fault '${kind}'; choose from ${Object.keys(faultKinds).join(', ')}`)
    if (rest.length > 0 || !/^(?:0|1|0?\.\d{1,9}|1\.0{1,9})$/.test(rate))
      throw unusable(`'${text}' is not kind=rate with a rate from 0 to 1, such as 429=0.1`)
    rates[kind as FaultKind] = Number(rate)
  }
  checkFaultRates(rates)
  return rates
}

export function checkFaultRates(rates: FaultRates): void {
  const values = Object.values(rates)
  const sum = values.reduce((a, b) => a + b, 0)
  // Ten times 0.1 is not exactly one.
  if (values.some((rate) => !(rate >= 0)) || !(sum <= 1 + 1e-9))
    throw unusable('rates must not be negative, and their sum must be at most 1')
}

function unusable(problem: string): Problem {
  return new Problem(`These faults cannot be simulated: ${problem}.`)
}

/** The fault of one attempt, if any. Deterministic for seed, request and attempt number. */
export function faultOf(
  rates: FaultRates,
  seed: number,
  request: string,
  attempt: number,
): FaultKind | undefined {
  let rest = deriveRandom(seed, 'fault', request, attempt).uniform()
  for (const kind of Object.keys(faultKinds) as FaultKind[]) {
    const rate = rates[kind] ?? 0
    if (rest < rate) return kind
    rest -= rate
  }
  return undefined
}

const rememberedRequests = 100_000

/** Counts the attempts at each request, from 1. Forgets the oldest requests if there are too many. */
export class AttemptCounter {
  readonly #attempts = new Map<string, number>()

  next(request: string): number {
    const attempt = (this.#attempts.get(request) ?? 0) + 1
    this.#attempts.delete(request)
    this.#attempts.set(request, attempt)
    if (this.#attempts.size > rememberedRequests)
      this.#attempts.delete(this.#attempts.keys().next().value as string)
    return attempt
  }
}
