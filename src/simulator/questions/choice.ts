import type { Dice } from './dice.ts'
import type { QuestionMaker } from './synthetic-question.ts'
import { capital, entries, listed, one } from './wording.ts'
import { worded, world } from './world-facts.ts'

/** A question with its right option and the wrong ones, the most tempting first. */
interface Choice {
  readonly question: string
  readonly right: string
  readonly wrong: readonly string[]
}

type Shape = (dice: Dice) => Choice | undefined

const shapes: readonly Shape[] = [
  inOrder(
    'postcards',
    world.countries.map(({ name, capital, city }) => [name, capital, city]),
  ),
  function quiz(dice) {
    const players = dice.sample(world.people, 4).map(({ name }) => name)
    const named = dice.sample(world.countries, 4)
    const [right] = dice.shuffle([0, 1, 2, 3])
    const said = players.map((player, index) => {
      const { name, capital, city } = named[index]
      return `${player} says that ${index === right ? capital : city} is the capital of ${name}`
    })
    const question = worded(dice, 'quiz', { said: listed(said) })
    return { question, right: players[right], wrong: players.filter((_, index) => index !== right) }
  },
  function continent(dice) {
    const home = dice.word('Europe, Africa, Asia, South America')
    const inside = dice.sample(
      world.countries.filter(({ continent }) => continent === home),
      4,
    )
    const stranger = dice.pick(world.countries.filter(({ continent }) => continent !== home))
    const shown = dice.shuffle([...inside, stranger]).map(({ name }) => name)
    const question = worded(dice, 'continent', { group: home, shown: listed(shown) })
    return { question, right: stranger.name, wrong: dice.shuffle(inside).map(({ name }) => name) }
  },
  inOrder('jars', world.elements),
  function headings(dice) {
    const [first, second] = dice.sample(world.terms, 2)
    const question = worded(dice, 'headings', { first: first[1], second: second[1] })
    if (new Set([first[0], first[2], second[0], second[2]]).size < 4) return undefined
    const wrong = [
      [first[2], second[0]],
      [first[0], second[2]],
      [second[0], first[0]],
      [first[2], second[2]],
    ]
    return { question, right: listed([first[0], second[0]]), wrong: dice.shuffle(wrong).map(listed) }
  },
  inOrder('shelf', world.books),
  function timeline(dice) {
    const moments = dice.sample([...world.events.keys()], 4)
    const latest = dice.pick([true, false])
    const shown = listed(moments.map((moment) => world.events[moment]))
    const question = worded(dice, 'timeline', { shown, end: latest ? 'last' : 'first' })
    const [right, ...wrong] = moments
      .sort((a, b) => (latest ? b - a : a - b))
      .map((moment) => world.events[moment])
    return { question, right, wrong }
  },
  function planetRank(dice) {
    const shown = dice.sample([...world.planets.keys()], dice.integer(4, 5))
    const { name } = dice.pick(world.people)
    const [superlative, rank] = dice.pick([
      ['is farthest from the sun', (planet: number) => -planet],
      ['comes closest to the sun', (planet: number) => planet],
      ['has the largest diameter', (planet: number) => world.planetSizes[planet]],
      ['has the smallest diameter', (planet: number) => -world.planetSizes[planet]],
    ] as const)
    const names = listed(shown.map((planet) => world.planets[planet]))
    const question = worded(dice, 'planets', { name, shown: names, superlative })
    const [right, ...wrong] = shown.sort((a, b) => rank(a) - rank(b)).map((planet) => world.planets[planet])
    return { question, right, wrong }
  },
  oddOneOut('animals', world.animals),
  oddOneOut('instruments', world.instruments),
  /** A definition with two conditions and an exception: one thing meets it, the others do not. */
  function inventedWord(dice) {
    const word = dice.sample(syllables, 2).join('') + dice.pick(['', 'el', 'o', 'in'])
    const [a, b, not] = dice.sample(Object.keys(world.features), 3)
    const misses = (thing: string): number =>
      [a, b].filter((feature) => !world.things[thing].includes(feature)).length +
      (world.things[thing].includes(not) ? 1 : 0)
    const all = dice.shuffle(Object.keys(world.things))
    const right = all.find((thing) => misses(thing) === 0)
    if (right === undefined) return undefined
    const wrong = all.filter((thing) => misses(thing) > 0).sort((x, y) => misses(x) - misses(y))
    const meaning = { one: world.features[a], two: world.features[b], not: world.features[not] }
    return { question: worded(dice, 'word', { word, aWord: one(word), ...meaning }), right, wrong }
  },
]

/** Multiple choice: facts of the world to recall and combine, and definitions to apply. Nothing to calculate. */
export const choiceQuestions: readonly QuestionMaker[] = shapes.map((shape) => (dice: Dice) => {
  const made = shape(dice)
  if (made === undefined) return undefined
  const { question, right, wrong } = made
  const others = [...new Set(wrong)].filter((text) => text !== right).slice(0, 4)
  if (others.length < 3) return undefined
  const shown = dice.shuffle([right, ...others])
  const labelOf = (text: string) => 'ABCDE'[shown.indexOf(text)]
  return {
    task: { question, options: shown.map((text) => ({ label: labelOf(text), text: capital(text) })) },
    reference: { kind: 'choice', label: labelOf(right) },
    solution: { answer: labelOf(right), wrong: others.map(labelOf) },
  }
})

/** Three things and what belongs to each. Without a third column, wrong options use what belongs to others. */
function inOrder(wording: string, rows: readonly string[][]): Shape {
  return (dice) => {
    const chosen = dice.sample(rows, 3)
    const question = worded(dice, wording, { shown: listed(chosen.map(([thing]) => thing)) })
    const right = chosen.map((row) => row[1])
    const others = rows.map((row) => row[1]).filter((other) => !right.includes(other))
    const mistaken = rows[0].length > 2 ? chosen.map((row) => row[2]) : dice.sample(others, 3)
    // A list that names something twice would be obviously wrong.
    if (new Set([...right, ...mistaken]).size < 6) return undefined
    return { question, right: listed(right), wrong: spoiled(dice, right, mistaken) }
  }
}

/** Lists that differ from the right one in one or two places. */
function spoiled(dice: Dice, right: readonly string[], mistaken: readonly string[]): string[] {
  const subsets = dice.shuffle([...right.keys()].map((place) => [place]))
  const pairs = dice.sample(
    subsets.flatMap(([a]) => subsets.map(([b]) => [a, b])).filter(([a, b]) => a < b),
    2,
  )
  return [...subsets, ...pairs].map((places) =>
    listed(right.map((item, place) => (places.includes(place) ? mistaken[place] : item))),
  )
}

/** Members of a group with one stranger among them. */
function oddOneOut(wording: string, groups: Readonly<Record<string, readonly string[]>>): Shape {
  return (dice) => {
    const [group, other] = dice.sample(Object.keys(groups), 2)
    const right = dice.pick(groups[other])
    const shown = dice.shuffle([...dice.sample(groups[group], dice.integer(3, 4)), right])
    const question = worded(dice, wording, { group, shown: listed(shown.map(one)) })
    return { question, right, wrong: dice.shuffle(shown) }
  }
}

const syllables = entries('bor, dal, fen, gri, hul, kem, lor, mav, nis, pol, rud, tam, vex, zin')
