import { describe, expect, test } from 'vitest'
import { AttemptCounter, type FaultKind, faultKinds, faultOf, parseFaultRates } from './faults.ts'

describe('rates', () => {
  test('are parsed from the command line', () => {
    expect(parseFaultRates([])).toEqual({})
    expect(parseFaultRates(['429=0.1', 'hang=.05', 'drip=0'])).toEqual({ 429: 0.1, hang: 0.05, drip: 0 })
    expect(parseFaultRates(['500=1'])).toEqual({ 500: 1 })
    expect(parseFaultRates(['429=0.1', '500=0.2', 'hang=0.7'])).toEqual({ 429: 0.1, 500: 0.2, hang: 0.7 })
  })

  test.each([
    ['418=0.1'],
    ['hang'],
    ['hang=2'],
    ['hang=-1'],
    ['hang=x'],
    ['hang=0.1=0.2'],
    ['__proto__=1'],
    ['hang= 1'],
  ])('%s is refused with the remedy', (text) => {
    expect(() => parseFaultRates([text])).toThrow(/choose from 429, 500|such as 429=0.1/)
  })

  test('sum to at most 1', () => {
    expect(() => parseFaultRates(['429=0.6', '500=0.6'])).toThrow(/at most 1/)
  })
})

test('faults occur at their rates, and reproducibly', () => {
  const rates = parseFaultRates(['429=0.1', 'hang=0.3'])
  const all = Array.from({ length: 3000 }, (_, index) =>
    faultOf(rates, 4, `request ${index % 1000}`, index % 3),
  )
  const share = (kind: FaultKind | undefined) => all.filter((one) => one === kind).length / all.length
  expect(Math.abs(share('429') - 0.1)).toBeLessThan(0.02)
  expect(Math.abs(share('hang') - 0.3)).toBeLessThan(0.03)
  expect(Math.abs(share(undefined) - 0.6)).toBeLessThan(0.03)
  expect(all).toEqual(all.map((_, index) => faultOf(rates, 4, `request ${index % 1000}`, index % 3)))
  expect(faultOf({}, 4, 'request', 1)).toBeUndefined()
  for (const kind of Object.keys(faultKinds) as FaultKind[])
    expect(faultOf({ [kind]: 1 }, 4, 'r', 1)).toBe(kind)
})

test('attempts are counted per request', () => {
  const attempts = new AttemptCounter()
  expect([attempts.next('a'), attempts.next('b'), attempts.next('a')]).toEqual([1, 1, 2])
})
