import { expect, test } from 'vitest'
import type { ExecutionEvent } from '../execution/trace/events.ts'
import { noUsage } from '../models/usage.ts'
import { CallPaths } from './call-path.ts'

type Given = { readonly node: string; readonly calls: readonly string[]; readonly after?: readonly string[] }

/** An execution whose nodes end in this order. */
function play(paths: CallPaths, nodes: readonly Given[], scope?: string): void {
  const hear = paths.listener(scope) as (event: unknown) => void
  const base = { execution: 'e', at: 0 }
  hear({
    ...base,
    type: 'execution-start',
    task: 't',
    nodes: nodes.map(({ node, after = [] }) => ({ node, role: 'r', predecessors: after })),
  } satisfies Partial<Record<keyof ExecutionEvent, unknown>> & Record<string, unknown>)
  for (const { node, calls } of nodes) {
    for (const digest of calls)
      hear({
        ...base,
        type: 'call-end',
        node,
        ok: true,
        reused: false,
        digest,
        usage: noUsage,
        durationMs: 1,
      })
    hear({ ...base, type: 'node-end', node, status: 'ok', durationMs: 1 })
  }
}

test('the critical path is the longest chain of calls that wait for each other', () => {
  const paths = new CallPaths()
  for (const [digest, ms] of Object.entries({ a: 10, b: 25, c: 7, d: 1 })) paths.made(digest, ms)
  play(paths, [
    { node: 'left', calls: ['a'] },
    { node: 'right', calls: ['b', 'c'] },
    { node: 'end', calls: ['d'], after: ['left', 'right'] },
  ])
  expect(paths.criticalMs).toBe(25 + 7 + 1)
  expect(paths.workMs).toBe(43)
})

test('a call shared by two executions counts on both paths, but as work once', () => {
  const paths = new CallPaths()
  paths.made('shared', 30)
  paths.made('own', 5)
  play(paths, [{ node: 'one', calls: ['shared'] }])
  play(paths, [
    { node: 'one', calls: ['shared'] },
    { node: 'two', calls: ['own'], after: ['one'] },
  ])
  expect(paths.criticalMs).toBe(35)
  expect(paths.workMs).toBe(35)
})

test('an answer known through a shorter chain is not waited for again, in either order', () => {
  const long: Given[] = [
    { node: 'one', calls: ['a'] },
    { node: 'two', calls: ['b'], after: ['one'] },
    { node: 'end', calls: ['final'], after: ['two'] },
  ]
  // 'two' gives the same answer in both, so the last request is the same.
  const short: Given[] = [
    { node: 'two', calls: ['c'] },
    { node: 'end', calls: ['final'], after: ['two'] },
  ]
  for (const executions of [
    [long, short],
    [short, long],
  ]) {
    const paths = new CallPaths()
    for (const [digest, ms] of Object.entries({ a: 10, b: 10, c: 4, final: 8 })) paths.made(digest, ms)
    for (const nodes of executions) play(paths, nodes)
    expect(paths.criticalMs).toBe(20)
    expect(paths.workMs).toBe(32)
  }
})

test('equal requests in different scopes are different calls', () => {
  const paths = new CallPaths()
  paths.made('x.call', 10)
  paths.made('y.call', 30)
  play(paths, [{ node: 'one', calls: ['call'] }], 'x.')
  expect(paths.criticalMs).toBe(10)
  play(paths, [{ node: 'one', calls: ['call'] }], 'y.')
  expect(paths.criticalMs).toBe(30)
  expect(paths.workMs).toBe(40)
})

test('known answers take no time', () => {
  const paths = new CallPaths()
  play(paths, [{ node: 'one', calls: ['known'] }])
  expect([paths.criticalMs, paths.workMs]).toEqual([0, 0])
})

test('independent calls add work, but no path', () => {
  const paths = new CallPaths()
  for (const digest of ['a', 'b', 'c', 'd']) {
    paths.made(digest, 10)
    play(paths, [{ node: digest, calls: [digest] }])
  }
  expect([paths.criticalMs, paths.workMs]).toEqual([10, 40])
})
