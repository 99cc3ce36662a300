import { describe, expect, test } from 'vitest'
import { oneAtATime } from '../../../../test/one-at-a-time.ts'
import type { ProgramTest } from '../../../library/task.ts'
import { findSandboxHost } from '../../../sandbox/host.ts'
import { SandboxPool } from '../../../sandbox/pool.ts'
import { SandboxUnavailable } from '../../../sandbox/unavailable.ts'
import type { HumanevalReference, LivecodebenchReference } from '../reference.ts'
import { scoreProgram } from './score-program.ts'

oneAtATime()
const pool = new SandboxPool({ concurrency: 2 })

const doubling: HumanevalReference = {
  kind: 'humaneval',
  prompt:
    'from typing import List\n\nFACTOR = 2\n\ndef double(values: List[int]) -> List[int]:\n    """ Doubles. """\n',
  entryPoint: 'double',
  test: `
def check(candidate):
    assert candidate([1, 2]) == [2, 4]
    assert candidate([]) == []
    assert double([7]) == [14]
    assert [FACTOR] == [2]
`,
}

function humaneval(test: string, prompt = 'def f(x):\n    """ f """\n'): HumanevalReference {
  return { kind: 'humaneval', prompt, entryPoint: 'f', test: `def check(candidate):\n    ${test}\n` }
}

function functional(...tests: Array<[input: string, output: string]>): LivecodebenchReference {
  const all = tests.map(([input, output]): ProgramTest => ({ testtype: 'functional', input, output }))
  const program = { mode: 'function', starterCode: '', entryPoint: 'f' } as const
  return {
    kind: 'livecodebench',
    program,
    publicTests: all.slice(0, 1),
    privateTests: JSON.stringify(all.slice(1)),
  }
}

function stdin(...tests: Array<[input: string, output: string]>): LivecodebenchReference {
  const all = tests.map(([input, output]): ProgramTest => ({ testtype: 'stdin', input, output }))
  const program = { mode: 'stdin', starterCode: '' } as const
  return {
    kind: 'livecodebench',
    program,
    publicTests: all.slice(0, 1),
    privateTests: JSON.stringify(all.slice(1)),
  }
}

describe('HumanEval', () => {
  test.concurrent.each([
    ['passed', 'the function alone', 'def double(values):\n    return [FACTOR * v for v in values]'],
    ['passed', 'with the prompt', `${doubling.prompt}    return [2 * v for v in values]`],
    ['passed', 'a lambda', 'double = lambda values: [v + v for v in values]'],
    [
      'passed',
      'state kept between calls',
      'n = 0\ndef double(values):\n    global n\n    n += 1\n    return [2 * v for v in values]',
    ],
    ['failed_tests', 'wrong', 'def double(values):\n    return values'],
    ['syntax_error', 'no program', 'def double(values)'],
    ['syntax_error', 'nested too deep', `x = ${'('.repeat(5000)}${')'.repeat(5000)}`],
    ['runtime_error', 'another name', 'def twice(values):\n    return [2 * v for v in values]'],
    [
      'runtime_error',
      'its own assertion',
      'def double(values):\n    assert False\n    return [2 * v for v in values]',
    ],
    ['timeout', 'sleeps while it loads', 'import time\ntime.sleep(60)'],
    ['timeout', 'sleeps in a call', 'import time\ndef double(values):\n    time.sleep(60)'],
    [
      'timeout',
      'sleeps a little in each call',
      'import time\ndef double(values):\n    time.sleep(1.3)\n    return [2 * v for v in values]',
    ],
    [
      'timeout',
      'gives half an answer',
      'import os, time\ndef double(values):\n    os.write(4, b"\\0\\0\\0")\n    time.sleep(60)',
    ],
    ['timeout', 'loops in a call', 'def double(values):\n    while True:\n        pass'],
    ['unparseable', 'white space', ' \n\t'],
  ])('%s: %s', async (status, _, program) => {
    expect(await scoreProgram(pool, program, doubling)).toMatchObject({
      status,
      score: status === 'passed' ? 1 : 0,
    })
  })

  // None of these is right, and each would pass some evaluator.
  test.concurrent.each([
    ['exits early', 'import sys\ndef double(values):\n    sys.exit(0)'],
    [
      'exits from a thread',
      'import os, threading\nthreading.Timer(0.02, os._exit, (0,)).start()\ndef double(values):\n    return values',
    ],
    [
      'raises SystemExit of its own',
      'class Quiet(SystemExit):\n    code = 0\ndef double(values):\n    raise Quiet',
    ],
    [
      'raises outside Exception',
      'class Quiet(BaseException):\n    pass\ndef double(values):\n    raise Quiet',
    ],
    [
      'leaves at exit',
      'import atexit, os\natexit.register(os._exit, 0)\ndef double(values):\n    return values',
    ],
    [
      'equals everything',
      'class E(list):\n    def __eq__(self, other):\n        return True\n    __ne__ = None\ndef double(values):\n    return E()',
    ],
    [
      'equals everything, of no class',
      'class E:\n    def __eq__(self, other):\n        return True\ndef double(values):\n    return E()',
    ],
    [
      'replaces assertion and equality',
      'import builtins\nbuiltins.AssertionError = SystemExit\nbuiltins.list = dict\ndef double(values):\n    return values',
    ],
    [
      'replaces the encoder',
      'import gc, json\njson.dumps = lambda *a, **k: "{\\"verdict\\":\\"passed\\"}"\nfor o in gc.get_objects():\n    if isinstance(o, dict) and "dumps" in o and "encode" in o:\n        o["dumps"] = lambda v: b\'["o","x"],"verdict":"passed"\'\ndef double(values):\n    return values',
    ],
    [
      'claims a verdict',
      'import os, struct\ndef double(values):\n    m = b\'{"verdict":"passed"}\'\n    os.write(3, struct.pack(">I", len(m)) + m)\n    os._exit(0)',
    ],
    [
      'answers ahead',
      'import os, struct\nfor m in (b\'{"loaded":true}\', b\'{"value":["l",2,4]}\', b\'{"value":["l"]}\', b\'{"value":["l",14]}\'):\n    os.write(3, struct.pack(">I", len(m)) + m)\nimport time\ntime.sleep(1)',
    ],
    [
      'answers twice',
      'import os, struct\ndef double(values):\n    m = b\'{"value":["l",2,4]}\'\n    os.write(4, 2 * (struct.pack(">I", len(m)) + m))\n    return values',
    ],
    [
      'answers without end',
      'import os\ndef double(values):\n    while True:\n        os.write(4, b"\\1" * 65536)',
    ],
    [
      'returns a monster',
      'def double(values):\n    x = []\n    for _ in range(100000):\n        x = [x]\n    return x',
    ],
    ['returns itself', 'def double(values):\n    values.append(values)\n    return values'],
    ['returns a million', 'def double(values):\n    return [0] * 3_000_000'],
    ['returns a surrogate', 'def double(values):\n    return "\\ud800"'],
    [
      'fakes the exception of a test',
      'def double(values):\n    raise type("AssertionError", (Exception,), {"__module__": "builtins"})',
    ],
    [
      'looks for the tests',
      'import gc, sys\nFOUND = [o for o in gc.get_objects() if isinstance(o, (str, list, tuple, dict)) and "14" in repr(o)[:5000] and "candidate" in repr(o)[:5000]]\ndef double(values):\n    return [2, 4] if FOUND else values',
    ],
    ['prints without end', 'def double(values):\n    while True:\n        print("x" * 1000)'],
    [
      'right, but prints too much in its last call',
      'def double(values):\n    if values == [7]:\n        print("x" * 70000)\n    return [2 * v for v in values]',
    ],
  ])('scores 0 for a program that %s', async (_, program) => {
    const { score, status } = await scoreProgram(pool, program, doubling)
    expect(score, status).toBe(0)
    expect(['failed_tests', 'runtime_error', 'timeout', 'output_limit', 'memory_limit']).toContain(status)
  })

  // Each of these silently ends a loop, a generator or a task somewhere in Python.
  test.concurrent.each([
    'StopIteration',
    'StopAsyncIteration',
    'GeneratorExit',
    'KeyboardInterrupt',
    'SystemExit(0)',
    'asyncio.CancelledError',
    'type("Quiet", (BaseException,), {})',
    'type("Quiet", (StopIteration,), {})',
    'type("Both", (StopIteration, ValueError), {})',
  ])('%s does not end a loop of the tests', async (exception) => {
    const program = `import asyncio\ndef f(x):\n    raise ${exception}`
    for (const test of [
      'assert all(map(candidate, [1, 2]))',
      'assert not any(filter(candidate, [1, 2]))',
      'assert list(iter(lambda: candidate(1), 3)) == []',
      'assert list(zip([1], map(candidate, [1]))) == []',
      'assert next(map(candidate, [1]), 7) == 7',
      'for _ in map(candidate, [1]):\n        assert False',
      'try:\n        candidate(1)\n    except BaseException:\n        pass',
    ]) {
      const { status } = await scoreProgram(pool, program, humaneval(test))
      expect(status, test).toBe('runtime_error')
    }
  })

  test.concurrent('tests may expect an exception', async () => {
    const raises = humaneval(
      'try:\n        candidate(-1)\n    except ValueError as e:\n        assert "low" in str(e)\n    else:\n        assert False',
    )
    expect((await scoreProgram(pool, 'def f(x):\n    raise ValueError("too low")', raises)).status).toBe(
      'passed',
    )
    expect((await scoreProgram(pool, 'def f(x):\n    raise KeyError("low")', raises)).status).toBe(
      'runtime_error',
    )
    expect((await scoreProgram(pool, 'def f(x):\n    return 1', raises)).status).toBe('failed_tests')
    const own = 'class Low(ValueError):\n    pass\ndef f(x):\n    raise Low("low")'
    expect((await scoreProgram(pool, own, raises)).status).toBe('passed')
    expect((await scoreProgram(pool, 'import os\ndef f(x):\n    os._exit(0)', raises)).status).toBe(
      'runtime_error',
    )
  })

  test.concurrent('values of all plain types arrive unchanged', async () => {
    const values =
      '(None, True, 2**70, 1.5, float("inf"), 1j, "é\\ud800", b"\\x00", [1], (), {1: {2}}, frozenset({3}), Decimal("1.10"), Fraction(1, 3))'
    const prompt = 'from decimal import Decimal\nfrom fractions import Fraction\ndef f(x):\n    """ f """\n'
    const same = humaneval(
      `v = ${values}\n    r = candidate(v)\n    assert r == v and repr(r) == repr(v)`,
      prompt,
    )
    expect((await scoreProgram(pool, 'def f(x):\n    return x', same)).status).toBe('passed')
    const named = humaneval('assert candidate(x=[3]) == [3]')
    expect((await scoreProgram(pool, 'def f(x):\n    return x', named)).status).toBe('passed')
  })

  test.concurrent("slow tests do not use up the program's time", async () => {
    const slow = humaneval('import time\n    time.sleep(3.5)\n    assert candidate(1) == 1')
    expect((await scoreProgram(pool, 'def f(x):\n    return x', slow)).status).toBe('passed')
  })

  test.concurrent('a program that changes its arguments does not affect the tests', async () => {
    const reference = humaneval('x = [1, 2]\n    assert candidate(x) == 0 and x == [1, 2]')
    expect((await scoreProgram(pool, 'def f(x):\n    x.clear()\n    return 0', reference)).status).toBe(
      'passed',
    )
  })

  test.concurrent('a prompt may end with a bare signature', async () => {
    const reference = humaneval('assert candidate(1) == 1', 'K = 1\ndef f(x):')
    expect((await scoreProgram(pool, 'def f(x):\n    return K', reference)).status).toBe('passed')
  })

  test.concurrent.each([
    ['passed', 'return x'],
    ['failed_tests', 'return 0'],
    ['runtime_error', 'raise KeyError(x)'],
    ['timeout', 'import time; time.sleep(60)'],
  ])('tests that call the function while loading: %s', async (status, body) => {
    const reference = humaneval('assert candidate(1) == 1')
    const eager = { ...reference, test: `${reference.test}\ncheck(f)\n` }
    expect((await scoreProgram(pool, `def f(x):\n    ${body}`, eager)).status).toBe(status)
  })

  test.concurrent('broken tests are an error, not a wrong answer', async () => {
    const program = 'def f(x):\n    return x'
    await expect(scoreProgram(pool, program, humaneval('(')).then(String)).rejects.toThrow(
      'The test code does not run',
    )
    const noCheck = { ...doubling, test: 'x = 1' }
    await expect(scoreProgram(pool, 'def double(v):\n    return v', noCheck)).rejects.toThrow('check')
    const badPrompt = humaneval('pass', 'import nothing_of_this_name\ndef f(x):\n    """ f """\n')
    await expect(scoreProgram(pool, program, badPrompt)).rejects.toThrow('The prompt does not run')
  })
})

describe('LiveCodeBench', () => {
  const sums = functional(['[1, 2]', '3'], ['[]', '0'], ['[5]', '5'])
  const lines = stdin(['1 2\n', '3\n'], ['4 5\n', '9\n'])

  test.concurrent.each([
    ['passed', 'a function', sums, 'def f(xs: List[int]):\n    return sum(xs)'],
    ['passed', 'a method', sums, 'class Solution:\n    def f(self, xs):\n        return sum(xs)'],
    ['failed_tests', 'wrong on a private test', sums, 'def f(xs):\n    return 3'],
    [
      'runtime_error',
      'Solution without the method',
      sums,
      'class Solution:\n    pass\ndef f(xs):\n    return sum(xs)',
    ],
    ['runtime_error', 'exits', sums, 'import os\ndef f(xs):\n    os._exit(0)'],
    ['runtime_error', 'exits while loading', sums, 'raise SystemExit(0)'],
    [
      'memory_limit',
      'takes all memory',
      sums,
      'def f(xs):\n    x = []\n    while True:\n        x.append(bytearray(100))',
    ],
    [
      'timeout',
      'sleeps in each test',
      sums,
      'import time\ndef f(xs):\n    time.sleep(1.3)\n    return sum(xs)',
    ],
    [
      'failed_tests',
      'equals everything',
      sums,
      'class E(int):\n    def __eq__(self, o):\n        return True\ndef f(xs):\n    return E(9)',
    ],
    [
      'failed_tests',
      'remembers nothing between tests',
      sums,
      'n = 2\ndef f(xs):\n    global n\n    n += 1\n    return n',
    ],
    ['passed', 'standard input', lines, 'print(sum(map(int, input().split())))'],
    [
      'passed',
      'exit after the output',
      lines,
      'import os\nprint(sum(map(int, input().split())), flush=True)\nos._exit(0)',
    ],
    ['runtime_error', 'exit with another status', lines, 'print(sum(map(int, input().split())))\nexit(1)'],
    [
      'runtime_error',
      'writes to the wrong descriptor',
      lines,
      'import os\nprint(sum(map(int, input().split())))\nos.write(3, b"x")',
    ],
    ['memory_limit', 'takes all memory', lines, 'x = []\nwhile True:\n    x.append(bytearray(100))'],
    ['syntax_error', 'no program', lines, 'print('],
  ])('%s: %s', async (status, _, reference, program) => {
    expect(await scoreProgram(pool, program, reference)).toMatchObject({
      status,
      score: status === 'passed' ? 1 : 0,
    })
  })

  test.concurrent('expected values never enter the program’s sandbox', async () => {
    const canary = 'CANARY-71f3'
    const search = `
import gc, os, sys
def seek():
    for o in gc.get_objects():
        try:
            if "CANARY" + "-" in repr(o)[:100000] and o is not seek.__code__.co_consts:
                return repr(o)
        except Exception:
            pass
    for root, folders, files in os.walk("/run"):
        for name in files:
            if "CANARY" + "-71" in open(os.path.join(root, name)).read():
                return name
    return "nothing"
`
    const asFunction = functional(['1', `"${canary}"`], ['2', `"${canary}"`])
    expect((await scoreProgram(pool, `${search}\ndef f(x):\n    return seek()`, asFunction)).status).toBe(
      'failed_tests',
    )
    const asScript = stdin(['1', canary], ['2', canary])
    expect((await scoreProgram(pool, `${search}\nprint(seek())`, asScript)).status).toBe('failed_tests')
  })

  test.concurrent('broken tests are an error, not a wrong answer', async () => {
    const program = 'def f(x):\n    return x'
    await expect(scoreProgram(pool, program, functional(['1', 'x']))).rejects.toThrow('is not JSON')
    await expect(scoreProgram(pool, program, functional(['x', '1']))).rejects.toThrow('is not JSON')
  })
})

// Messages the program itself writes to our channel, framed like our own code does or not at all.
describe('a program’s claims about itself', () => {
  const said = [
    '{"broken":"x"}',
    '{"loaded":true}',
    '{"loaded":true,"broken":"x"}',
    '{"compiled":true}',
    '{"verdict":"passed"}',
    '{"call":[]}',
    '{"failed":"exception","types":["BrokenTask"],"name":"x","text":"y"}',
    '{"failed":"exit","types":[],"name":1}',
    '{"value":["D","1e99999999999999999999"]}',
    '{"value":["F","0x1","0x0"]}',
    '{"value":["constructor"]}',
    '{"value":["toString","x"]}',
    '{"__proto__":{"broken":"x"}}',
    'null',
    '[]',
    '"broken"',
    '1e999',
    '{',
    '',
    '\\ud800',
    `${'['.repeat(100_000)}`,
  ]
  const writing = (text: string, how: string) =>
    `import os, struct\nm = ${JSON.stringify(text)}.encode("utf-8", "surrogatepass")\n${how}\nos._exit(0)`
  const framed = 'os.write(3, struct.pack(">I", len(m)) + m)'
  const first = functional(['1', '1'])
  const lines = stdin(['', 'x'])

  test.concurrent.each([
    ...said.map((text) => [text.slice(0, 70), writing(text, framed)]),
    ['bytes without a frame', writing(said[0]!, 'os.write(3, m)')],
    ['two at once', writing(said[0]!, `${framed}\n${framed}`)],
  ])('%s is at most its own error', async (_, program) => {
    for (const reference of [doubling, first, lines]) {
      const { score, status } = await scoreProgram(pool, program, reference)
      expect(score, status).toBe(0)
      expect(['runtime_error', 'failed_tests']).toContain(status)
    }
    const inCall = `def double(values):\n    ${program.replaceAll('\n', '\n    ')}`
    expect((await scoreProgram(pool, inCall, doubling)).score).toBe(0)
  })

  test.concurrent('random bytes on all its descriptors do no harm', async () => {
    for (let seed = 0; seed < 30; seed += 1) {
      const program = `
import os, random
random.seed(${seed})
for _ in range(random.randrange(1, 6)):
    length = random.choice([0, 1, 20, 4000])
    body = random.randbytes(random.choice([0, 1, length, 70000]))
    frame = random.choice([b"", length.to_bytes(4, "big"), random.randbytes(21)]) + body
    try:
        os.write(random.randrange(0, 6), frame)
    except OSError:
        pass
if random.random() < 0.3:
    os.close(random.randrange(0, 6) % 5)
${seed % 2 === 0 ? 'os._exit(0)' : 'def f(x):\n    return 0\ndef double(values):\n    return 0'}`
      const reference = [doubling, first, lines][seed % 3]!
      const { score, status } = await scoreProgram(pool, program, reference)
      expect(score, `${seed}: ${status}`).toBe(0)
    }
  })

  test.concurrent('an argument Python cannot parse is not blamed on the sandbox', async () => {
    const reference = functional(['9'.repeat(5000), '1'])
    expect((await scoreProgram(pool, 'def f(x):\n    return 1', reference)).status).toBe('runtime_error')
  })
})

describe('an unfit machine', () => {
  test('gives no score', async () => {
    const none = new SandboxPool({ findHost: () => Promise.reject(new SandboxUnavailable('none here')) })
    await expect(scoreProgram(none, 'x = 1', doubling)).rejects.toBeInstanceOf(SandboxUnavailable)
    const slow = new SandboxPool({ infrastructureSeconds: 0.3 })
    const program = 'import time\ntime.sleep(2)'
    await expect(scoreProgram(slow, program, doubling)).rejects.toThrow('was stopped after')
  })

  test('stops when cancelled', async () => {
    const controller = new AbortController()
    const program = 'import time\ndef double(values):\n    time.sleep(60)'
    const scored = scoreProgram(pool, program, doubling, controller.signal)
    setTimeout(() => controller.abort(new Error('stop')), 300)
    await expect(scored).rejects.toThrow('stop')
  })

  test('an answer that is not a string is not a program', async () => {
    for (const answer of [null, undefined, 3, ['def'], { source: 'x' }]) {
      expect(await scoreProgram(pool, answer, doubling)).toEqual({
        score: 0,
        parse: 'invalid',
        status: 'unparseable',
      })
    }
  })

  test('secrets in our environment stay hidden', async () => {
    process.env['SANDBOX_CANARY_KEY'] = 'canary-4711'
    try {
      await findSandboxHost()
      const look = 'import os\nprint("canary" in str(dict(os.environ)), len(os.environ) < 9)'
      expect((await scoreProgram(pool, look, stdin(['', 'False True']))).status).toBe('passed')
    } finally {
      delete process.env['SANDBOX_CANARY_KEY']
    }
  })
})
