// A small table of the world: facts that do not change and that nobody disputes.
import { cells, entries } from './wording.ts'

export interface Country {
  readonly name: string
  readonly capital: string
  /** A well-known city of the same country that is easily taken for its capital. */
  readonly city: string
  readonly continent: string
}

const countriesByContinent = {
  Europe: `
    Norway/Oslo/Bergen, Sweden/Stockholm/Gothenburg, Poland/Warsaw/Kraków, Portugal/Lisbon/Porto,
    Italy/Rome/Milan, Switzerland/Bern/Zurich, Croatia/Zagreb/Split, Greece/Athens/Thessaloniki,
    Ireland/Dublin/Cork, Germany/Berlin/Munich, Belgium/Brussels/Antwerp, Lithuania/Vilnius/Kaunas`,
  Africa: `
    Kenya/Nairobi/Mombasa, Morocco/Rabat/Casablanca, Nigeria/Abuja/Lagos, Ghana/Accra/Kumasi,
    Egypt/Cairo/Alexandria, Senegal/Dakar/Saint-Louis, Zambia/Lusaka/Livingstone, Tunisia/Tunis/Sfax,
    Ethiopia/Addis Ababa/Gondar, Cameroon/Yaoundé/Douala`,
  Asia: `
    Japan/Tokyo/Osaka, Vietnam/Hanoi/Ho Chi Minh City, India/New Delhi/Mumbai, Pakistan/Islamabad/Karachi,
    Thailand/Bangkok/Chiang Mai, Nepal/Kathmandu/Pokhara, China/Beijing/Shanghai, South Korea/Seoul/Busan,
    Mongolia/Ulaanbaatar/Erdenet, Jordan/Amman/Aqaba`,
  'South America': `
    Peru/Lima/Cusco, Brazil/Brasília/Rio de Janeiro, Ecuador/Quito/Guayaquil, Colombia/Bogotá/Medellín,
    Chile/Santiago/Valparaíso, Argentina/Buenos Aires/Córdoba, Uruguay/Montevideo/Salto,
    Paraguay/Asunción/Ciudad del Este`,
  'North America': `
    Canada/Ottawa/Toronto, Cuba/Havana/Santiago de Cuba, Honduras/Tegucigalpa/San Pedro Sula,
    Jamaica/Kingston/Montego Bay`,
  Oceania: `
    Australia/Canberra/Sydney, New Zealand/Wellington/Auckland, Fiji/Suva/Nadi`,
}

export const countries: readonly Country[] = Object.entries(countriesByContinent).flatMap(
  ([continent, text]) => cells(text).map(([name, capital, city]) => ({ name, capital, city, continent })),
)

/** Name, symbol, and an element that the symbol is easily taken for. */
export const elements = cells(`
  sodium/Na/nitrogen, potassium/K/krypton, iron/Fe/fluorine, silver/Ag/argon, gold/Au/silver,
  copper/Cu/cobalt, lead/Pb/phosphorus, tin/Sn/antimony, mercury/Hg/helium, tungsten/W/titanium,
  carbon/C/calcium, chlorine/Cl/calcium, magnesium/Mg/manganese, manganese/Mn/magnesium, silicon/Si/sulfur,
  sulfur/S/silicon, phosphorus/P/platinum, platinum/Pt/lead, neon/Ne/nickel, nickel/Ni/neon,
  helium/He/hydrogen, zinc/Zn/zirconium, boron/B/bromine, chromium/Cr/carbon`)

export const animals: Readonly<Record<string, readonly string[]>> = {
  mammals: ['bat', 'dolphin', 'squirrel', 'otter', 'whale', 'hedgehog', 'walrus', 'kangaroo', 'hare', 'mole'],
  birds: ['penguin', 'ostrich', 'heron', 'swift', 'owl', 'pelican', 'kiwi', 'puffin', 'raven', 'emu'],
  reptiles: ['tortoise', 'gecko', 'crocodile', 'adder', 'iguana', 'chameleon', 'python', 'turtle'],
  fish: ['salmon', 'eel', 'seahorse', 'tuna', 'shark', 'carp', 'cod', 'ray', 'herring', 'pike'],
  insects: ['ant', 'dragonfly', 'beetle', 'wasp', 'butterfly', 'cricket', 'bee', 'mosquito', 'ladybird'],
  amphibians: ['frog', 'newt', 'toad', 'salamander', 'axolotl'],
}

export const instruments: Readonly<Record<string, readonly string[]>> = {
  string: ['violin', 'cello', 'harp', 'guitar', 'lute', 'viola', 'mandolin', 'banjo'],
  woodwind: ['flute', 'oboe', 'clarinet', 'bassoon', 'saxophone', 'piccolo', 'recorder'],
  brass: ['trumpet', 'trombone', 'tuba', 'French horn', 'cornet', 'bugle', 'flugelhorn'],
  percussion: ['kettledrum', 'xylophone', 'triangle', 'snare drum', 'tambourine', 'marimba', 'gong'],
}

/** From the sun outwards. */
export const planets = entries('Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus, Neptune')

/** The rank of each of them by diameter, 1 the largest. */
export const planetSizes = [8, 6, 5, 7, 1, 2, 3, 4]

/** Title and author. */
export const books = cells(`
  Pride and Prejudice/Jane Austen, Wuthering Heights/Emily Brontë, Jane Eyre/Charlotte Brontë,
  Oliver Twist/Charles Dickens, Middlemarch/George Eliot, Frankenstein/Mary Shelley, Dracula/Bram Stoker,
  War and Peace/Leo Tolstoy, Crime and Punishment/Fyodor Dostoevsky, Madame Bovary/Gustave Flaubert,
  Don Quixote/Miguel de Cervantes, The Trial/Franz Kafka, The Magic Mountain/Thomas Mann,
  Moby-Dick/Herman Melville, The Scarlet Letter/Nathaniel Hawthorne, Mrs Dalloway/Virginia Woolf,
  Ulysses/James Joyce, Things Fall Apart/Chinua Achebe,
  One Hundred Years of Solitude/Gabriel García Márquez, The Name of the Rose/Umberto Eco`)

/** In the order of time, well apart from each other. */
export const events: readonly string[] = [
  'the building of the great pyramid of Giza',
  'the founding of the Roman Empire under Augustus',
  'the eruption of Vesuvius that buried Pompeii',
  'the coronation of Charlemagne as emperor',
  'the Norman conquest of England',
  'the sealing of Magna Carta',
  'the arrival of the Black Death in Europe',
  'the first voyage of Columbus to America',
  'the posting of Luther’s theses in Wittenberg',
  'the defeat of the Spanish Armada',
  'the Peace of Westphalia',
  'the American Declaration of Independence',
  'the storming of the Bastille',
  'the Battle of Waterloo',
  'the opening of the Suez Canal',
  'the first powered flight of the Wright brothers',
  'the sinking of the Titanic',
  'the discovery of penicillin by Fleming',
  'the first crewed landing on the Moon',
  'the fall of the Berlin Wall',
]

/** A term of a field with a description in our own words, and a neighbour that is easily confused with it. */
export const terms: readonly (readonly [term: string, description: string, mistaken: string])[] = [
  ['photosynthesis', 'green plants build sugar from light, water and carbon dioxide', 'respiration'],
  ['osmosis', 'water passes through a membrane towards the more concentrated solution', 'diffusion'],
  ['erosion', 'wind, water or ice carry away soil and rock', 'weathering'],
  ['evaporation', 'a liquid turns into vapour at its surface', 'condensation'],
  ['sublimation', 'a solid turns into a gas without melting first', 'evaporation'],
  ['refraction', 'light changes its direction as it enters another medium', 'reflection'],
  ['pollination', 'pollen reaches the stigma of a flower', 'germination'],
  ['germination', 'a seed begins to sprout', 'pollination'],
  ['fermentation', 'yeast or bacteria break down sugar without oxygen', 'distillation'],
  ['distillation', 'a mixture is separated by boiling it and cooling the vapour', 'filtration'],
  ['metamorphosis', 'a larva changes its whole shape to become an adult', 'moulting'],
  ['hibernation', 'an animal spends the winter with a lowered body temperature', 'migration'],
  ['inflation', 'the general level of prices rises over time', 'recession'],
  ['recession', 'the output of an economy falls for several months', 'inflation'],
  ['monopoly', 'a single seller controls a whole market', 'cartel'],
  ['cartel', 'competing sellers agree on their prices in secret', 'monopoly'],
  ['ratification', 'a parliament formally approves a treaty', 'legislation'],
  ['impeachment', 'a holder of high office is formally charged by a legislature', 'abdication'],
  ['abdication', 'a monarch gives up the throne', 'coronation'],
  ['alliteration', 'neighbouring words begin with the same sound', 'assonance'],
  ['metaphor', 'one thing is spoken of as if it were another, without “like” or “as”', 'simile'],
  ['hyperbole', 'something is exaggerated for effect', 'understatement'],
  ['counterpoint', 'independent melodies sound at the same time', 'monophony'],
  ['crescendo', 'the music grows gradually louder', 'diminuendo'],
]

/** Everyday things and what they have. */
export const features = {
  blade: 'has a blade',
  handle: 'is held or pushed by a handle',
  wheels: 'runs on wheels',
  motor: 'is driven by a motor',
  moving: 'has parts that move against each other',
  kitchen: 'belongs in a kitchen',
  garden: 'is used in a garden',
  carries: 'is made to carry or hold something',
} as const

export type Feature = keyof typeof features

export const things: Readonly<Record<string, readonly Feature[]>> = {
  'bread knife': ['blade', 'handle', 'kitchen'],
  'pair of kitchen scissors': ['blade', 'handle', 'moving', 'kitchen'],
  'electric egg whisk': ['handle', 'motor', 'moving', 'kitchen'],
  'frying pan': ['handle', 'kitchen', 'carries'],
  'mixing bowl': ['kitchen', 'carries'],
  'wooden spoon': ['handle', 'kitchen'],
  'push lawnmower without an engine': ['blade', 'handle', 'wheels', 'moving', 'garden'],
  'petrol lawnmower': ['blade', 'handle', 'wheels', 'motor', 'moving', 'garden'],
  'electric hedge trimmer': ['blade', 'handle', 'motor', 'moving', 'garden'],
  'garden cart': ['handle', 'wheels', 'moving', 'garden', 'carries'],
  rake: ['handle', 'garden'],
  spade: ['blade', 'handle', 'garden'],
  'watering can': ['handle', 'garden', 'carries'],
  'flower pot': ['garden', 'carries'],
  'delivery van': ['wheels', 'motor', 'moving', 'carries'],
  'shopping trolley': ['handle', 'wheels', 'moving', 'carries'],
  'basket with a fixed handle': ['handle', 'carries'],
  'wood axe': ['blade', 'handle'],
}
