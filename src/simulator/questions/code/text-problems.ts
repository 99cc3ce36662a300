import type { Draw } from '../draw.ts'
import { type ProblemTemplate, program } from './code-problem.ts'

const words = [
  ...[
    'apple',
    'river',
    'sun',
    'bridge',
    'ox',
    'lantern',
    'ice',
    'copper',
    'umbrella',
    'at',
    'garden',
    'echo',
  ],
  ...[
    'moon',
    'engine',
    'oak',
    'zebra',
    'velvet',
    'island',
    'hut',
    'compass',
    'up',
    'orchard',
    'fern',
    'theatre',
  ],
]

function sentence(draw: Draw, most = 7): string {
  return Array.from({ length: draw.integer(0, most) }, () => draw.pick(words)).join(' ')
}

const wordsOf = (text: string): string[] => text.split(' ').filter((word) => word !== '')
const toText = { parameters: ['text: str'], returns: 'str' } as const
const toNumber = { parameters: ['text: str'], returns: 'int' } as const

/** Functions of a text. */
export const textProblems: readonly ProblemTemplate[] = [
  (draw) => {
    const shift = draw.integer(2, 24)
    const letter = (code: number) => String.fromCharCode(code)
    const encode = (by: number, wrap: boolean, upper: boolean) => (text: string) =>
      text.replace(upper ? /[a-zA-Z]/g : /[a-z]/g, (found) => {
        const base = found >= 'a' ? 97 : 65
        const place = found.charCodeAt(0) - base + by
        return letter(base + (wrap ? (place + 26) % 26 : place))
      })
    const body = (changed: string, condition = "'a' <= c <= 'z'") =>
      `return ''.join(${changed} if ${condition} else c for c in text)`
    const cipher = draw.pick(['a secret club', 'a puzzle book', 'a message in a bottle', 'a children’s game'])
    return {
      entryPoint: 'encode',
      ...toText,
      statement: `for the code of ${cipher}: every lower-case letter from a to z is replaced by the letter ${shift} places later in the alphabet, where a follows after z. All other characters, capital letters among them, stay as they are.`,
      input: (d) => {
        const text = sentence(d, 3)
        return [d.pick([text, text.toUpperCase(), `${text.charAt(0).toUpperCase()}${text.slice(1)}!`])]
      },
      right: program(body(`chr((ord(c) - 97 + ${shift}) % 26 + 97)`), encode(shift, true, false)),
      wrong: [
        program(body(`chr(ord(c) + ${shift})`), encode(shift, false, false)),
        ...(shift === 13
          ? []
          : [program(body(`chr((ord(c) - 97 - ${shift}) % 26 + 97)`), encode(-shift, true, false))]),
        program(
          `result = ''\nfor c in text:\n    if c.isalpha():\n        base = 97 if c.islower() else 65\n        c = chr((ord(c) - base + ${shift}) % 26 + base)\n    result += c\nreturn result`,
          encode(shift, true, true),
        ),
      ],
    }
  },
  (draw) => {
    const least = draw.integer(2, 6)
    const letter = draw.pick([...'aeinort'])
    const body = (condition: string) => `return sum(1 for word in text.split() if ${condition})`
    const count = (fits: (word: string) => boolean) => (text: string) => wordsOf(text).filter(fits).length
    return {
      entryPoint: 'count_words',
      ...toNumber,
      statement: `that counts the words of a text (lower-case words with single spaces between them) that have at least ${least} letters and contain the letter ${letter}.`,
      input: (d) => [sentence(d)],
      right: program(
        body(`len(word) >= ${least} and '${letter}' in word`),
        count((word) => word.length >= least && word.includes(letter)),
      ),
      wrong: [
        program(
          body(`len(word) > ${least} and '${letter}' in word`),
          count((word) => word.length > least && word.includes(letter)),
        ),
        program(
          body(`len(word) >= ${least} and word.startswith('${letter}')`),
          count((word) => word.length >= least && word.startsWith(letter)),
        ),
        program(
          body(`len(word) >= ${least} or '${letter}' in word`),
          count((word) => word.length >= least || word.includes(letter)),
        ),
      ],
    }
  },
  (draw) => {
    const least = draw.integer(2, 5)
    const mark = draw.pick([...'*#~^+'])
    const body = (comparison: string, written = 'str(length)') =>
      `from itertools import groupby\nresult = ''\nfor letter, group in groupby(text):\n    length = len(list(group))\n    result += letter + '${mark}' + ${written} if length ${comparison} ${least} else letter * length\nreturn result`
    const compress =
      (from: number, less = 0) =>
      (text: string) =>
        text.replace(/(.)\1*/g, (run, letter: string) =>
          run.length >= from ? `${letter}${mark}${run.length - less}` : run,
        )
    return {
      entryPoint: 'compress',
      ...toText,
      statement: `that shortens a text of lower-case letters. Every run of ${least} or more equal letters is replaced by the letter, the character ${mark} and the length of the run; shorter runs stay as they are.`,
      input: (d) => [
        Array.from({ length: d.integer(0, 5) }, () =>
          d.pick([...'abcde']).repeat(d.integer(1, least + 2)),
        ).join(''),
      ],
      right: program(body('>='), compress(least)),
      wrong: [
        program(body('>'), compress(least + 1)),
        program(body('>=', 'str(length - 1)'), compress(least, 1)),
      ],
    }
  },
  (draw) => {
    const ignored = draw
      .sample([...'aeinorst'], 2)
      .sort()
      .join('')
    const tally = (text: string, letters: string[], first: boolean) => {
      const counts = new Map(letters.map((letter) => [letter, text.split(letter).length - 1]))
      const most = Math.max(0, ...counts.values())
      const best = [...counts.keys()].filter((letter) => counts.get(letter) === most)
      return (first ? best : best.sort())[0] ?? ''
    }
    const lettersOf = (text: string, skip: string) =>
      [...new Set(text)].filter((c) => c !== ' ' && !skip.includes(c))
    const body = (skip: string, chosen: string) =>
      `letters = [c for c in text if c not in ' ${skip}']\nif not letters:\n    return ''\nreturn ${chosen}`
    return {
      entryPoint: 'most_common_letter',
      ...toText,
      statement: `that returns the letter that occurs most often in a text of lower-case words. Spaces and the letters ${[...ignored].join(' and ')} are left out of the count. If several letters are equally frequent, it returns the one that comes first in the alphabet; if none is left, the empty text.`,
      input: (d) => [sentence(d, 4)],
      right: program(
        body(ignored, 'min(set(letters), key=lambda c: (-letters.count(c), c))'),
        (text: string) => tally(text, lettersOf(text, ignored), false),
      ),
      wrong: [
        program(body(ignored, 'max(letters, key=letters.count)'), (text: string) =>
          tally(text, lettersOf(text, ignored), true),
        ),
        program(body('', 'min(set(letters), key=lambda c: (-letters.count(c), c))'), (text: string) =>
          tally(text, lettersOf(text, ''), false),
        ),
      ],
    }
  },
  (draw) => {
    const [least, suffix] = [draw.integer(2, 5), draw.pick(['-1', '-2', '-7', '/A', '/B', '-X'])]
    const short = (text: string, from: number) =>
      wordsOf(text)
        .filter((word) => word.length >= from)
        .map((word) => word[0]!.toUpperCase())
        .join('') + suffix
    const body = (condition: string, letter: string) =>
      `return ''.join(${letter} for word in text.split()${condition}) + '${suffix}'`
    return {
      entryPoint: 'abbreviate',
      ...toText,
      statement: `that makes an abbreviation of a name of lower-case words: the first letters of all words with more than ${least} letters, as capitals and without spaces, followed by \`${suffix}\`.`,
      input: (d) => [sentence(d, 6)],
      right: program(body(` if len(word) > ${least}`, 'word[0].upper()'), (text: string) =>
        short(text, least + 1),
      ),
      wrong: [
        program(body(` if len(word) >= ${least}`, 'word[0].upper()'), (text: string) => short(text, least)),
        program(body('', 'word[0].upper()'), (text: string) => short(text, 0)),
      ],
    }
  },
  (draw) => {
    const deepest = draw.integer(1, 5)
    const [open, close] = draw.pick(['()', '[]', '<>', '{}'].map((pair) => [...pair] as [string, string]))
    const judge = (limit: number, whole: boolean) => (text: string) => {
      let depth = 0
      for (const c of text) {
        depth += c === open ? 1 : -1
        if (depth < 0 || depth > limit) return false
      }
      return !whole || depth === 0
    }
    const body = (limit: string, last: string) =>
      `depth = 0\nfor c in text:\n    depth += 1 if c == '${open}' else -1\n    if depth < 0${limit}:\n        return False\nreturn ${last}`
    return {
      entryPoint: 'well_nested',
      parameters: ['text: str'],
      returns: 'bool',
      statement: `for a text that consists of the characters ${open} and ${close} only. It returns whether every ${open} is closed by a later ${close} and the other way round, and whether the nesting is never deeper than ${deepest === 1 ? 'one level' : `${deepest} levels`}.`,
      input: (d) => {
        const deep = (levels: number) => open.repeat(levels) + close.repeat(levels)
        const parts = Array.from({ length: d.integer(0, 3) }, () =>
          deep(d.integer(1, deepest + (d.integer(1, 4) === 1 ? 1 : 0))),
        )
        const text = parts.join('')
        return [d.pick([text, text, text + open, text.slice(1), open + text + close])]
      },
      right: program(body(` or depth > ${deepest}`, 'depth == 0'), judge(deepest, true)),
      wrong: [
        program(body('', 'depth == 0'), judge(Number.POSITIVE_INFINITY, true)),
        program(body(` or depth > ${deepest}`, 'True'), judge(deepest, false)),
        program(body(` or depth >= ${deepest}`, 'depth == 0'), judge(deepest - 1, true)),
      ],
    }
  },
  (draw) => {
    const [least, mask] = [draw.integer(3, 7), draw.pick([...'*#x-'])]
    const hide = (text: string, from: number, shown: number) =>
      wordsOf(text)
        .map((word) => (word.length >= from ? word.slice(0, shown) + mask.repeat(word.length - shown) : word))
        .join(' ')
    const body = (comparison: string, shown = 1) =>
      `return ' '.join(word[:${shown}] + '${mask}' * (len(word) - ${shown}) if len(word) ${comparison} ${least} else word for word in text.split())`
    return {
      entryPoint: 'hide_words',
      ...toText,
      statement: `that hides the long words of a text (lower-case words with single spaces between them): in each word of ${least} or more letters every letter but the first is replaced by \`${mask}\`. Shorter words and the spaces stay.`,
      input: (d) => [sentence(d, 5)],
      right: program(body('>='), (text: string) => hide(text, least, 1)),
      wrong: [
        program(body('>'), (text: string) => hide(text, least + 1, 1)),
        program(body('>=', 0), (text: string) => hide(text, least, 0)),
      ],
    }
  },
  (draw) => {
    const minutes = draw.integer(3, 58) + 60 * draw.integer(0, 5)
    const vehicle = draw.pick(['train', 'ferry', 'night bus', 'plane', 'tram'])
    const two = (value: number) => String(value).padStart(2, '0')
    const clock = (by: number, day: boolean, pad: boolean) => (text: string) => {
      const [hour, minute] = text.split(':').map(Number) as [number, number]
      const all = hour * 60 + minute + by
      const [h, m] = [day ? Math.floor(all / 60) % 24 : Math.floor(all / 60), all % 60]
      return pad ? `${two(h)}:${two(m)}` : `${h}:${m}`
    }
    const body = (hour: string, format: string) =>
      `hour, minute = map(int, text.split(':'))\ntotal = hour * 60 + minute + ${minutes}\nreturn f'{${hour}${format}}:{total % 60${format}}'`
    return {
      entryPoint: 'arrival_time',
      ...toText,
      statement: `that is given the departure of a ${vehicle} as a time of day such as \`07:05\` (24 hours, always two digits) and returns its arrival ${minutes} minutes later in the same form. After 23:59 comes 00:00.`,
      input: (d) => [`${two(d.pick([d.integer(0, 23), d.integer(18, 23)]))}:${two(d.integer(0, 59))}`],
      right: program(body('total // 60 % 24', ':02d'), clock(minutes, true, true)),
      wrong: [
        program(body('total // 60', ':02d'), clock(minutes, false, true)),
        program(body('total // 60 % 24', ''), clock(minutes, true, false)),
      ],
    }
  },
]
