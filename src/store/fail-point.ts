// Named places where a test can end the process as `kill -9` would: MAGIC_FAIL=after:checkpoint:3 does so the third
// time the place is passed. For moments that no disk call marks.

export type FailPoint =
  | 'after:call'
  | 'after:evaluation'
  | 'before:events'
  | 'after:events'
  | 'after:checkpoint'

const [, wanted, time] = /^([a-z]+:[a-z]+):(\d{1,9})$/.exec(process.env['MAGIC_FAIL'] ?? '') ?? []
let passed = 0

export function failPoint(place: FailPoint): void {
  if (place !== wanted) return
  passed += 1
  if (passed === Number(time)) process.kill(process.pid, 'SIGKILL')
}
