import type { Dice } from './dice.ts'
import type { QuestionMaker } from './synthetic-question.ts'
import { capital, entries, listed, one, people, towns } from './wording.ts'
import {
  animals,
  books,
  countries,
  elements,
  events,
  features,
  instruments,
  planetSizes,
  planets,
  terms,
  things,
} from './world-facts.ts'

/** A question with its right option and the wrong ones, the most tempting first. */
interface Choice {
  readonly question: string
  readonly right: string
  readonly wrong: readonly string[]
}

const shapes: Readonly<Record<string, (dice: Dice) => Choice | undefined>> = {
  postcards(dice) {
    const visited = dice.sample(countries, 3)
    const { name, they } = dice.pick(people)
    const names = listed(visited.map((country) => country.name))
    const question = dice.pick([
      `${name} collects postcards of capital cities. In the album the capitals of ${names} follow each other in this order. Which cities does the page show?`,
      `On a journey ${name} stops in the capitals of ${names}, in this order. Which cities does ${they} visit?`,
      `A geography quiz asks for the capitals of ${names}, in this order. Which answer should ${name} give?`,
    ])
    const capitals = visited.map((country) => country.capital)
    const cities = visited.map(({ city }) => city)
    return { question, right: listed(capitals), wrong: spoiled(dice, capitals, cities) }
  },
  quizPartners(dice) {
    const players = dice.sample(people, 4).map(({ name }) => name)
    const named = dice.sample(countries, 4)
    const [right] = dice.shuffle([0, 1, 2, 3])
    const said = players.map((player, index) => {
      const { name, capital, city } = named[index]
      return `${player} says that ${index === right ? capital : city} is the capital of ${name}`
    })
    const question = `Four friends play a geography game in ${dice.pick(towns)}. ${listed(said)}. Only one of them is right about the capital. Who is it?`
    return { question, right: players[right], wrong: players.filter((_, index) => index !== right) }
  },
  otherContinent(dice) {
    const home = dice.word('Europe, Africa, Asia, South America')
    const inside = dice.sample(
      countries.filter(({ continent }) => continent === home),
      4,
    )
    const stranger = dice.pick(countries.filter(({ continent }) => continent !== home))
    const shown = dice.shuffle([...inside, stranger]).map(({ name }) => name)
    const question = dice.pick([
      `An atlas page about ${home} has been put together carelessly: it describes ${listed(shown)}. Which of these countries lies on another continent?`,
      `A choir plans a tour of ${home} with concerts in ${listed(shown)}. Which country does not belong on a tour of that continent?`,
    ])
    return { question, right: stranger.name, wrong: dice.shuffle(inside).map(({ name }) => name) }
  },
  labels(dice) {
    const bottles = dice.sample(elements, 3)
    const symbols = listed(bottles.map(([, symbol]) => symbol))
    const question = dice.pick([
      `Three jars in the chemistry store of a school in ${dice.pick(towns)} carry the symbols ${symbols}. Which chemical elements do they contain, in this order?`,
      `In a periodic table on the wall of the laboratory the fields ${symbols} are marked. Which elements do these symbols stand for, in this order?`,
    ])
    const right = bottles.map(([name]) => name)
    const mistaken = bottles.map((bottle) => bottle[2])
    // A list that names an element twice would give itself away.
    if (new Set([...right, ...mistaken]).size < 6) return undefined
    return { question, right: listed(right), wrong: spoiled(dice, right, mistaken) }
  },
  headings(dice) {
    const [first, second] = dice.sample(terms, 2)
    const question = dice.pick([
      `Two cards of a dictionary game have lost their headings. On the first card one reads: “${first[1]}.” On the second: “${second[1]}.” Which terms belong on the cards, in this order?`,
      `A glossary describes two terms. The first is used when ${first[1]}; the second when ${second[1]}. Which terms are meant, in this order?`,
    ])
    if (new Set([first[0], first[2], second[0], second[2]]).size < 4) return undefined
    const right = [first[0], second[0]]
    const wrong = [
      [first[2], second[0]],
      [first[0], second[2]],
      [second[0], first[0]],
      [first[2], second[2]],
    ]
    return { question, right: listed(right), wrong: dice.shuffle(wrong).map(listed) }
  },
  bookShelf(dice) {
    const shelf = dice.sample(books, 3)
    const titles = listed(shelf.map(([title]) => `“${title}”`))
    const question = dice.pick([
      `On a shelf in the library of ${dice.pick(towns)} stand ${titles}, from left to right. Who wrote these novels, in this order?`,
      `A reading group discusses three novels: ${titles}. Which authors do they read, in this order?`,
    ])
    const authors = shelf.map(([, author]) => author)
    const others = dice.sample(
      books.map(([, author]) => author).filter((author) => !authors.includes(author)),
      3,
    )
    return { question, right: listed(authors), wrong: spoiled(dice, authors, others) }
  },
  timeline(dice) {
    const moments = dice.sample([...events.keys()], 4)
    const latest = dice.pick([true, false])
    const question = `A history class in ${dice.pick(towns)} draws a timeline with these events: ${listed(moments.map((moment) => events[moment]))}. Which of them happened ${latest ? 'last' : 'first'}?`
    const [right, ...wrong] = [...moments]
      .sort((a, b) => (latest ? b - a : a - b))
      .map((moment) => events[moment])
    return { question, right, wrong }
  },
  planetRank(dice) {
    const shown = dice.sample([...planets.keys()], dice.integer(4, 5))
    const names = listed(shown.map((planet) => planets[planet]))
    const { name } = dice.pick(people)
    const [superlative, rank] = dice.pick([
      ['is farthest from the sun', (planet: number) => -planet],
      ['comes closest to the sun', (planet: number) => planet],
      ['has the largest diameter', (planet: number) => planetSizes[planet]],
      ['has the smallest diameter', (planet: number) => -planetSizes[planet]],
    ] as const)
    const question = dice.pick([
      `${name} paints a picture of the planets ${names}. Which of the painted planets ${superlative}?`,
      `The observatory of ${dice.pick(towns)} shows models of ${names}. Which of these planets ${superlative} in reality?`,
    ])
    const [right, ...wrong] = [...shown].sort((a, b) => rank(a) - rank(b)).map((planet) => planets[planet])
    return { question, right, wrong }
  },
  animalPoster(dice) {
    const [group, stranger, shown] = oddOneOut(dice, animals)
    const { name } = dice.pick(people)
    const list = listed(shown.map(one))
    const question = dice.pick([
      `A poster in a biology room is headed “${capital(group)}” and shows ${list}. Which animal has no place on it?`,
      `${name} sorts pictures of animals and puts ${list} on the pile of ${group}. Which animal is on the wrong pile?`,
    ])
    return { question, right: stranger, wrong: dice.shuffle(shown) }
  },
  instrumentCase(dice) {
    const [group, stranger, shown] = oddOneOut(dice, instruments)
    const list = listed(shown.map(one))
    const question = dice.pick([
      `A music school in ${dice.pick(towns)} keeps its ${group} instruments in one cupboard. In it lie ${list}. Which instrument belongs to another family?`,
      `Somebody wrote on a list of ${group} instruments for an orchestra: ${list}. Which entry is a mistake?`,
    ])
    return { question, right: stranger, wrong: dice.shuffle(shown) }
  },
  /** A definition with two conditions and an exception: one thing meets it, the others miss it. */
  inventedWord(dice) {
    const word = dice.sample(syllables, 2).join('') + dice.pick(['', 'el', 'o', 'in'])
    const [a, b, not] = dice.sample(Object.keys(features), 3)
    const misses = (thing: string): number =>
      [a, b].filter((feature) => !things[thing].includes(feature)).length +
      (things[thing].includes(not) ? 1 : 0)
    const all = dice.shuffle(Object.keys(things))
    const right = all.find((thing) => misses(thing) === 0)
    if (right === undefined) return undefined
    const wrong = all.filter((thing) => misses(thing) > 0).sort((x, y) => misses(x) - misses(y))
    const question = dice.pick([
      `In an invented language, “${word}” means anything that ${features[a]} and ${features[b]}, unless it ${features[not]}. Which of these can be called ${one(word)}?`,
      `A club in ${dice.pick(towns)} has a word of its own: ${one(word)} is a thing that ${features[a]} and that also ${features[b]}, but never one that ${features[not]}. Which of these is ${one(word)}?`,
    ])
    return { question, right, wrong }
  },
}

/** Multiple choice: facts of the world to recall and combine, and definitions to apply. Nothing to calculate. */
export const choiceQuestions: readonly QuestionMaker[] = Object.values(shapes).map(
  (shape) => (dice: Dice) => {
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
  },
)

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
function oddOneOut(
  dice: Dice,
  groups: Readonly<Record<string, readonly string[]>>,
): [group: string, stranger: string, shown: string[]] {
  const [group, other] = dice.sample(Object.keys(groups), 2)
  const stranger = dice.pick(groups[other])
  return [group, stranger, dice.shuffle([...dice.sample(groups[group], dice.integer(3, 4)), stranger])]
}

const syllables = entries('bor, dal, fen, gri, hul, kem, lor, mav, nis, pol, rud, tam, vex, zin')
