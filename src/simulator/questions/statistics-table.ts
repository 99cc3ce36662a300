import type { Table } from '../../library/task.ts'
import type { Dice } from './dice.ts'
import { cells, entries, towns } from './wording.ts'

/** A made-up table of counts: who did how many of what, in one year. */
export interface StatisticsTable {
  readonly table: Table
  /** A sentence part that says which table is meant, such as `the cafés of Ashford in 2014`. */
  readonly about: string
  /** What the rows are, in plural and singular. */
  readonly members: string
  readonly member: string
  readonly rows: readonly string[]
  readonly measures: readonly Measure[]
}

/** One column: `sold` `teas`. No two rows have the same value. */
export interface Measure {
  /** The past form, which is also the participle in the column's heading. */
  readonly verb: string
  readonly infinitive: string
  readonly items: string
  readonly item: string
  readonly values: readonly number[]
}

interface Theme {
  readonly members: string
  readonly member: string
  readonly names: string
  /** A whole name, with `*` for one of the names. */
  readonly named: string
  /** Infinitive, past form, items in plural and in singular. */
  readonly measures: string
  readonly largest: number
}

const themes: readonly Theme[] = [
  {
    members: 'cafés',
    member: 'café',
    names: `
      Anchor, Blue Door, Copper Pot, Daily Grind, Elm Tree, Fig Leaf, Golden Cup, Harbour, Idle Hour,
      Juniper, Kettle, Lantern`,
    named: 'Café *',
    measures: `
      sell/sold/teas/tea, sell/sold/coffees/coffee, sell/sold/cakes/cake, sell/sold/sandwiches/sandwich`,
    largest: 950,
  },
  {
    members: 'teams',
    member: 'team',
    names: `
      Rovers, Falcons, Otters, Comets, Lions, Wanderers, Herons, Badgers, Rangers, Pirates, Swifts,
      Bears`,
    named: 'the *',
    measures: `
      win/won/matches/match, score/scored/goals/goal, earn/earned/corner kicks/corner kick,
      receive/received/yellow cards/yellow card`,
    largest: 90,
  },
  {
    members: 'museums',
    member: 'museum',
    names: 'Maritime, Railway, Toy, Glass, Folk, Clock, Postal, Mining, Textile, Aviation, Puppet, Geology',
    named: 'the * Museum',
    measures: `
      welcome/welcomed/school classes/school class, exhibit/exhibited/paintings/painting,
      offer/offered/guided tours/guided tour, restore/restored/exhibits/exhibit`,
    largest: 480,
  },
  {
    members: 'farms',
    member: 'farm',
    names: 'Alder, Brook, Cliff, Dale, Elder, Field, Glen, Hawthorn, Ivy, Ridge, Meadow, Willow',
    named: '* Farm',
    measures: `
      pick/picked/crates of apples/crate of apples, pick/picked/crates of pears/crate of pears,
      fill/filled/jars of honey/jar of honey, harvest/harvested/sacks of potatoes/sack of potatoes`,
    largest: 700,
  },
  {
    members: 'ferries',
    member: 'ferry',
    names: `
      Aurora, Borealis, Cormorant, Dolphin, Evening Star, Fulmar, Gannet, Heather, Isle Queen,
      Kittiwake, Marigold, Tern`,
    named: 'the *',
    measures: `
      carry/carried/passengers/passenger, carry/carried/bicycles/bicycle,
      transport/transported/lorries/lorry, make/made/crossings/crossing`,
    largest: 990,
  },
  {
    members: 'libraries',
    member: 'library',
    names: `
      Central, Northside, Riverside, Station, Hilltop, Market, Castle, University, Parkway, Chapel,
      Bridge Street, Old Town`,
    named: '* Library',
    measures: `
      lend/lent/novels/novel, lend/lent/picture books/picture book, lend/lent/audio books/audio book,
      hold/held/readings/reading`,
    largest: 860,
  },
  {
    members: 'workshops',
    member: 'workshop',
    names: 'Adler, Bryce, Carver, Dunn, Easton, Foley, Garnett, Hale, Irwin, Joyner, Keane, Lund',
    named: '* & Sons',
    measures: `
      build/built/chairs/chair, build/built/tables/table, repair/repaired/wardrobes/wardrobe,
      deliver/delivered/shelves/shelf`,
    largest: 320,
  },
  {
    members: 'weather stations',
    member: 'weather station',
    names: `
      Eagle Ridge, Foxton, Gull Rock, High Moor, Inchkeith, Lower Fell, Marsh End, Nettle Bay, Pike Top,
      Sandy Spit, Tarn Head, Wolf Crag`,
    named: '* station',
    measures: `
      record/recorded/rainy days/rainy day, record/recorded/frosty nights/frosty night,
      record/recorded/gales/gale, report/reported/thunderstorms/thunderstorm`,
    largest: 180,
  },
]

export function drawTable(dice: Dice): StatisticsTable {
  const { members, member, names, named, measures, largest } = dice.pick(themes)
  const rows = dice.sample(entries(names), dice.integer(5, 9)).map((name) => named.replace('*', name))
  const columns = dice.sample(cells(measures), 3).map(([infinitive, verb, items, item]) => ({
    infinitive,
    verb,
    items,
    item,
    values: dice.different(rows.length, Math.ceil(largest / 20), largest),
  }))
  const about = `the ${members} of ${dice.pick(towns)} in ${dice.integer(1990, 2023)}`
  return {
    about,
    members,
    member,
    rows,
    measures: columns,
    table: {
      name: members
        .replaceAll(' ', '_')
        .normalize('NFD')
        .replace(/[\u0300-\u036f]/g, ''),
      caption: `Figures for ${about}`,
      header: [member, ...columns.map(({ verb, items }) => `${items} ${verb}`)],
      rows: rows.map((row, index) => [
        row.replace(/^the /, ''),
        ...columns.map(({ values }) => String(values[index])),
      ]),
    },
  }
}

/** The rows of a column from the most to the fewest. */
export function ranked({ values }: Measure): number[] {
  return [...values.keys()].sort((a, b) => values[b] - values[a])
}

export function total(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0)
}
