import type { Draw } from './draw.ts'
import type { QuestionMaker, SyntheticQuestion } from './synthetic-question.ts'
import { capital, listed, one, people, towns } from './wording.ts'
import {
  animals,
  books,
  countries,
  elements,
  events,
  type Feature,
  features,
  instruments,
  planets,
  terms,
  things,
} from './world-facts.ts'

/** Multiple choice: facts of the world to recall and combine, and definitions to apply. Nothing to calculate. */
export const choice: readonly QuestionMaker[] = [
  postcards,
  quizPartners,
  otherContinent,
  labels,
  headings,
  bookShelf,
  timeline,
  planetRank,
  animalPoster,
  instrumentCase,
  inventedWord,
]

/** The wrong options the most tempting first; they appear in random order. */
function choiceQuestion(
  draw: Draw,
  question: string,
  right: string,
  wrong: readonly string[],
): SyntheticQuestion | undefined {
  const others = [...new Set(wrong)].filter((text) => text !== right).slice(0, 4)
  if (others.length < 3) return undefined
  const options = draw
    .shuffle([right, ...others])
    .map((text, index) => ({ label: 'ABCDE'[index]!, text: capital(text) }))
  const labelOf = (text: string) => options.find((option) => option.text === capital(text))!.label
  return {
    task: { question, options },
    reference: { kind: 'choice', label: labelOf(right) },
    solution: { answer: labelOf(right), wrong: others.map(labelOf) },
  }
}

/** Lists that differ from the right one in one or two places. */
function spoiled(draw: Draw, right: readonly string[], mistaken: readonly string[]): string[] {
  const subsets = draw.shuffle([...right.keys()].map((place) => [place]))
  const pairs = draw.sample(
    subsets.flatMap(([a]) => subsets.map(([b]) => [a!, b!])).filter(([a, b]) => a! < b!),
    2,
  )
  return [...subsets, ...pairs].map((places) =>
    listed(right.map((item, place) => (places.includes(place) ? mistaken[place]! : item))),
  )
}

function postcards(draw: Draw): SyntheticQuestion | undefined {
  const visited = draw.sample(countries, 3)
  const { name, they } = draw.pick(people)
  const names = listed(visited.map((country) => country.name))
  const question = draw.pick([
    `${name} collects postcards of capital cities. In the album the capitals of ${names} follow each other in this order. Which cities does the page show?`,
    `On a journey ${name} stops in the capitals of ${names}, in this order. Which cities does ${they} visit?`,
    `A geography quiz asks for the capitals of ${names}, in this order. Which answer should ${name} give?`,
  ])
  const capitals = visited.map((country) => country.capital)
  const cities = visited.map(({ city }) => city)
  return choiceQuestion(draw, question, listed(capitals), spoiled(draw, capitals, cities))
}

function quizPartners(draw: Draw): SyntheticQuestion | undefined {
  const players = draw.sample(people, 4).map(({ name }) => name)
  const named = draw.sample(countries, 4)
  const [right] = draw.shuffle([0, 1, 2, 3])
  const said = players.map((player, index) => {
    const { name, capital, city } = named[index]!
    return `${player} says that ${index === right ? capital : city} is the capital of ${name}`
  })
  const question = `Four friends play a geography game in ${draw.pick(towns)}. ${listed(said)}. Only one of them is right about the capital. Who is it?`
  return choiceQuestion(
    draw,
    question,
    players[right!]!,
    players.filter((_, index) => index !== right),
  )
}

function otherContinent(draw: Draw): SyntheticQuestion | undefined {
  const home = draw.pick(['Europe', 'Africa', 'Asia', 'South America'])
  const inside = draw.sample(
    countries.filter(({ continent }) => continent === home),
    4,
  )
  const stranger = draw.pick(countries.filter(({ continent }) => continent !== home))
  const shown = draw.shuffle([...inside, stranger]).map(({ name }) => name)
  const question = draw.pick([
    `An atlas page about ${home} has been put together carelessly: it describes ${listed(shown)}. Which of these countries lies on another continent?`,
    `A choir plans a tour of ${home} with concerts in ${listed(shown)}. Which country does not belong on a tour of that continent?`,
  ])
  return choiceQuestion(
    draw,
    question,
    stranger.name,
    draw.shuffle(inside).map(({ name }) => name),
  )
}

function labels(draw: Draw): SyntheticQuestion | undefined {
  const bottles = draw.sample(elements, 3)
  const symbols = listed(bottles.map(([, symbol]) => symbol))
  const question = draw.pick([
    `Three jars in the chemistry store of a school in ${draw.pick(towns)} carry the symbols ${symbols}. Which chemical elements do they contain, in this order?`,
    `In a periodic table on the wall of the laboratory the fields ${symbols} are marked. Which elements do these symbols stand for, in this order?`,
  ])
  const right = bottles.map(([name]) => name)
  const mistaken = bottles.map((bottle) => bottle[2])
  // A list that names an element twice would give itself away.
  if (new Set([...right, ...mistaken]).size < 6) return undefined
  return choiceQuestion(draw, question, listed(right), spoiled(draw, right, mistaken))
}

function headings(draw: Draw): SyntheticQuestion | undefined {
  const [first, second] = draw.sample(terms, 2) as [(typeof terms)[number], (typeof terms)[number]]
  const question = draw.pick([
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
  return choiceQuestion(draw, question, listed(right), draw.shuffle(wrong).map(listed))
}

function bookShelf(draw: Draw): SyntheticQuestion | undefined {
  const shelf = draw.sample(books, 3)
  const titles = listed(shelf.map(([title]) => `“${title}”`))
  const question = draw.pick([
    `On a shelf in the library of ${draw.pick(towns)} stand ${titles}, from left to right. Who wrote these novels, in this order?`,
    `A reading group discusses three novels: ${titles}. Which authors do they read, in this order?`,
  ])
  const authors = shelf.map(([, author]) => author)
  const others = draw.sample(
    books.map(([, author]) => author).filter((author) => !authors.includes(author)),
    3,
  )
  return choiceQuestion(draw, question, listed(authors), spoiled(draw, authors, others))
}

function timeline(draw: Draw): SyntheticQuestion | undefined {
  const moments = draw.sample([...events.keys()], 4)
  const latest = draw.pick([true, false])
  const question = `A history class in ${draw.pick(towns)} draws a timeline with these events: ${listed(moments.map((moment) => events[moment]!))}. Which of them happened ${latest ? 'last' : 'first'}?`
  const [right, ...wrong] = [...moments]
    .sort((a, b) => (latest ? b - a : a - b))
    .map((moment) => events[moment]!)
  return choiceQuestion(draw, question, right!, wrong)
}

function planetRank(draw: Draw): SyntheticQuestion | undefined {
  const shown = draw.sample([...planets.keys()], draw.integer(4, 5))
  const names = listed(shown.map((planet) => planets[planet]![0]))
  const { name } = draw.pick(people)
  const [superlative, rank] = draw.pick([
    ['is farthest from the sun', (planet: number) => -planet],
    ['comes closest to the sun', (planet: number) => planet],
    ['has the largest diameter', (planet: number) => planets[planet]![1]],
    ['has the smallest diameter', (planet: number) => -planets[planet]![1]],
  ] as const)
  const question = draw.pick([
    `${name} paints a picture of the planets ${names}. Which of the painted planets ${superlative}?`,
    `The observatory of ${draw.pick(towns)} shows models of ${names}. Which of these planets ${superlative} in reality?`,
  ])
  const [right, ...wrong] = [...shown].sort((a, b) => rank(a) - rank(b)).map((planet) => planets[planet]![0])
  return choiceQuestion(draw, question, right!, wrong)
}

function animalPoster(draw: Draw): SyntheticQuestion | undefined {
  const [group, stranger, shown] = oddOneOut(draw, animals)
  const { name } = draw.pick(people)
  const list = listed(shown.map(one))
  const question = draw.pick([
    `A poster in a biology room is headed “${capital(group)}” and shows ${list}. Which animal has no place on it?`,
    `${name} sorts pictures of animals and puts ${list} on the pile of ${group}. Which animal is on the wrong pile?`,
  ])
  return choiceQuestion(draw, question, stranger, draw.shuffle(shown))
}

function instrumentCase(draw: Draw): SyntheticQuestion | undefined {
  const [group, stranger, shown] = oddOneOut(draw, instruments)
  const list = listed(shown.map(one))
  const question = draw.pick([
    `A music school in ${draw.pick(towns)} keeps its ${group} instruments in one cupboard. In it lie ${list}. Which instrument belongs to another family?`,
    `Somebody wrote on a list of ${group} instruments for an orchestra: ${list}. Which entry is a mistake?`,
  ])
  return choiceQuestion(draw, question, stranger, draw.shuffle(shown))
}

/** Members of a group with one stranger among them. */
function oddOneOut(
  draw: Draw,
  groups: Readonly<Record<string, readonly string[]>>,
): [group: string, stranger: string, shown: string[]] {
  const [group, other] = draw.sample(Object.keys(groups), 2) as [string, string]
  const stranger = draw.pick(groups[other]!)
  return [group, stranger, draw.shuffle([...draw.sample(groups[group]!, draw.integer(3, 4)), stranger])]
}

const syllables = [
  'bor',
  'dal',
  'fen',
  'gri',
  'hul',
  'kem',
  'lor',
  'mav',
  'nis',
  'pol',
  'rud',
  'tam',
  'vex',
  'zin',
]

/** A definition with two conditions and an exception: one thing meets it, the others miss it. */
function inventedWord(draw: Draw): SyntheticQuestion | undefined {
  const word = draw.sample(syllables, 2).join('') + draw.pick(['', 'el', 'o', 'in'])
  const [a, b, not] = draw.sample(Object.keys(features) as Feature[], 3) as [Feature, Feature, Feature]
  const misses = (thing: string): number =>
    [a, b].filter((feature) => !things[thing]!.includes(feature)).length +
    (things[thing]!.includes(not) ? 1 : 0)
  const all = draw.shuffle(Object.keys(things))
  const right = all.find((thing) => misses(thing) === 0)
  if (right === undefined) return undefined
  const wrong = all.filter((thing) => misses(thing) > 0).sort((x, y) => misses(x) - misses(y))
  const question = draw.pick([
    `In an invented language, “${word}” means anything that ${features[a]} and ${features[b]}, unless it ${features[not]}. Which of these can be called ${one(word)}?`,
    `A club in ${draw.pick(towns)} has a word of its own: ${one(word)} is a thing that ${features[a]} and that also ${features[b]}, but never one that ${features[not]}. Which of these is ${one(word)}?`,
  ])
  return choiceQuestion(draw, question, right, wrong)
}
