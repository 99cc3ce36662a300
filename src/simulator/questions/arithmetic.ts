import type { Dice } from './dice.ts'
import { type Calculation, numberQuestion, type QuestionMaker } from './synthetic-question.ts'
import { entries, people, towns } from './wording.ts'

const money = entries('euros, dollars, pounds, crowns, francs')

const stories: Readonly<Record<string, (dice: Dice) => Calculation>> = {
  bakery(dice) {
    const { name } = dice.pick(people)
    const pastry = dice.word('rolls, muffins, scones, bagels, cinnamon buns, croissants')
    const currency = dice.pick(money)
    const [trays, each, box, price] = dice.integers([6, 18], [14, 36], [5, 12], [4, 15])
    const baked = trays * each
    const burnt = (baked % box) + box
    const boxes = (baked - burnt) / box
    return {
      text: `${name} bakes ${trays} trays of ${pastry} with ${each} ${pastry} on each tray. On cooling, ${burnt} of them turn out to be burnt and are thrown away. The rest go into boxes of ${box}, and every box is sold for ${price} ${currency}. How many ${currency} do all the boxes bring in?`,
      answer: boxes * price,
      slips: [Math.floor(baked / box) * price, (baked - burnt) * price, boxes],
    }
  },
  schoolTrip(dice) {
    const currency = dice.pick(money)
    const sight = dice.word('the science museum, the zoo, an open-air theatre, the castle, the aquarium')
    const [pupils, teachers, seats] = dice.integers([70, 190], [5, 14], [28, 52])
    const [hire, fee] = dice.integers([180, 450, 10], [3, 11])
    const everyone = pupils + teachers
    const coaches = Math.ceil(everyone / seats)
    return {
      text: `A school in ${dice.pick(towns)} takes ${pupils} pupils and ${teachers} teachers to ${sight}. Everybody needs a seat; a coach has ${seats} seats and costs ${hire} ${currency} to hire, however full it is. Entrance is ${fee} ${currency} per pupil, while teachers go in free. What does the trip cost altogether, in ${currency}?`,
      answer: coaches * hire + pupils * fee,
      slips: [
        coaches * hire + everyone * fee,
        Math.floor(everyone / seats) * hire + pupils * fee,
        coaches * hire,
      ],
    }
  },
  orchard(dice) {
    const fruit = dice.word('apple, pear, plum, cherry, peach')
    const [rows, trees, share, crate] = dice.integers([4, 12], [6, 15], [3, 5], [6, 15])
    const perTree = share * crate * dice.integer(1, 2)
    const harvest = rows * trees * perTree
    const crates = (harvest - harvest / share) / crate
    const part = ['third', 'quarter', 'fifth'][share - 3]
    return {
      text: `An orchard near ${dice.pick(towns)} has ${rows} rows of ${trees} ${fruit} trees. This autumn every tree yields ${perTree} kilograms of fruit. One ${part} of the harvest is pressed into juice, and the remainder is packed into crates that hold ${crate} kilograms each. How many crates are filled?`,
      answer: crates,
      slips: [harvest / crate, harvest / share / crate, harvest - harvest / share],
    }
  },
  saving(dice) {
    const { name, they, their } = dice.pick(people)
    const currency = dice.pick(money)
    const wish = dice.word('bicycle, guitar, tent, camera, telescope, sewing machine')
    const treat = dice.word('pair of gloves, lamp, board game, rucksack, set of paints')
    const relative = dice.word('grandmother, uncle, aunt, godfather, cousins')
    const [weekly, weeks, spent, gift, missing] = dice.integers(
      [6, 19],
      [8, 24],
      [12, 45],
      [15, 60],
      [20, 150],
    )
    const saved = weekly * weeks
    const price = saved - spent + gift + missing
    return {
      text: `${name} wants to buy a ${wish} that costs ${price} ${currency}. For ${weeks} weeks ${they} puts aside ${weekly} ${currency} a week, then takes ${spent} ${currency} from the savings for a ${treat}. For ${their} birthday ${they} is given ${gift} ${currency} by ${their} ${relative}. How many ${currency} is ${name} still short of the price?`,
      answer: missing,
      slips: [
        price - saved - gift,
        price - saved + spent,
        price - saved + spent + gift,
        saved - spent + gift,
      ],
    }
  },
  cyclingTour(dice) {
    const { name, they } = dice.pick(people)
    const [first, second] = dice.sample(towns, 2)
    const [speed, hours, slower, longer, rest] = dice.integers([14, 24], [3, 6], [2, 5], [1, 3], [25, 90])
    const one = speed * hours
    const two = (speed - slower) * (hours + longer)
    const three = two / 2
    const total = one + two + three + rest
    return {
      text: `${name} cycles from ${first} to ${second}, a route of ${total} kilometres. On Monday ${they} rides for ${hours} hours at ${speed} kilometres per hour. On Tuesday ${they} is ${slower} kilometres per hour slower but rides ${longer === 1 ? 'one hour' : `${longer} hours`} longer. On Wednesday ${they} manages half as far as on Tuesday. How many kilometres are left for Thursday?`,
      answer: three % 1 === 0 ? rest : Number.NaN,
      slips: [total - one - two, total - one - speed * (hours + longer), one + two + three],
    }
  },
  waterTank(dice) {
    const place = dice.word('greenhouse, farm, fire station, camp site, brewery, stable')
    const [start, flow, leak, minutes, later] = dice.integers(
      [120, 600, 10],
      [18, 45],
      [3, 9],
      [15, 40],
      [5, 25],
    )
    const filled = start + (flow - leak) * minutes
    return {
      text: `The water tank of a ${place} holds ${start} litres when a pump is switched on that adds ${flow} litres per minute. All the while the tank loses ${leak} litres per minute through a crack. After ${minutes} minutes the pump is switched off, and it takes another ${later} minutes until the crack is sealed. How many litres are in the tank then?`,
      answer: filled - leak * later,
      slips: [
        filled,
        start + flow * minutes - leak * later,
        filled - leak * later - start,
        start + flow * minutes,
      ],
    }
  },
  knitting(dice) {
    const { name, they } = dice.pick(people)
    const [large, small] = dice.pick([
      ['jumpers', 'hats'],
      ['blankets', 'cushion covers'],
      ['shawls', 'pairs of mittens'],
      ['cardigans', 'scarves'],
    ])
    const [some, more, inLarge, inSmall, pack] = dice.integers([3, 8], [5, 14], [7, 13], [2, 4], [4, 10])
    const need = some * inLarge + more * inSmall
    const stock = dice.integer(5, Math.floor(need / 3))
    return {
      text: `For a winter fair ${name} will knit ${some} ${large} and ${more} ${small}. Each of the ${large} takes ${inLarge} balls of wool and each of the ${small} takes ${inSmall}. ${name} has ${stock} balls at home, and the shop in ${dice.pick(towns)} sells wool in packs of ${pack} balls only. How many packs must ${they} buy?`,
      answer: Math.ceil((need - stock) / pack),
      slips: [Math.ceil(need / pack), Math.floor((need - stock) / pack), need - stock],
    }
  },
  printShop(dice) {
    const product = dice.word('song books, cookery books, guidebooks, annual reports, poetry booklets')
    const [fast, slow, minutes, bind] = dice.integers([30, 60], [12, 28], [12, 30], [2, 4])
    const copies = dice.pick([20, 24, 25, 30, 36, 40])
    const pages = fast + slow
    const printing = copies * minutes
    return {
      text: `A print shop in ${dice.pick(towns)} has an order for ${copies} ${product} of ${pages * minutes} pages each. Two printers work at the same time: one prints ${fast} pages per minute and the other ${slow}. When all pages are printed, binding takes ${bind} minutes per copy, one copy after the other. How many minutes does the whole order take?`,
      answer: printing + copies * bind,
      slips: [printing, minutes + copies * bind, printing + bind, minutes * (copies + bind)],
    }
  },
  animalFeed(dice) {
    const [big, little] = [dice.word('cows, horses'), dice.word('goats, llamas, donkeys, sheep')]
    const [many, few, eats, nibbles, days] = dice.integers([6, 18], [5, 25], [8, 14], [2, 6], [5, 14])
    const sack = dice.pick([20, 25, 30, 40])
    const daily = many * eats + few * nibbles
    const store = dice.integer(2, 9) * 15
    const need = daily * days
    return {
      text: `On a farm in ${dice.pick(towns)} there are ${many} ${big} and ${few} ${little}. Every day each of the ${big} eats ${eats} kilograms of hay and each of the ${little} eats ${nibbles}. The barn still has ${store} kilograms. Hay comes in bales of ${sack} kilograms. How many bales must be bought so that it lasts for ${days} days?`,
      answer: Math.ceil((need - store) / sack),
      slips: [Math.ceil(need / sack), Math.floor((need - store) / sack), need - store, need],
    }
  },
  painting(dice) {
    const room = dice.word('club room, classroom, waiting room, workshop, gym hall, dining hall')
    const [walls, long, high, windows, area, coats, cover] = dice.integers(
      [3, 6],
      [6, 14],
      [3, 5],
      [3, 8],
      [2, 4],
      [2, 3],
      [5, 9],
    )
    const whole = walls * long * high
    const painted = (whole - windows * area) * coats
    return {
      text: `A ${room} in ${dice.pick(towns)} has ${walls} walls to be painted, each ${long} metres long and ${high} metres high. They have ${windows} windows between them, which stay unpainted and measure ${area} square metres each. The walls get ${coats} coats, and a litre of paint covers ${cover} square metres once. How many full litres must be bought?`,
      answer: Math.ceil(painted / cover),
      slips: [
        Math.ceil((whole * coats) / cover),
        Math.ceil(painted / coats / cover),
        Math.floor(painted / cover),
        painted,
      ],
    }
  },
  concert(dice) {
    const currency = dice.pick(money)
    const players = dice.word('A brass band, A string quartet, A choir, A jazz trio, A folk group')
    const [rows, seats, balcony, unsold, price, cheaper] = dice.integers(
      [12, 25],
      [14, 24],
      [40, 90],
      [11, 35],
      [18, 40],
      [5, 12],
    )
    const rent = dice.integer(8, 25) * 100
    const floor = rows * seats
    const income = (floor - unsold) * price + balcony * (price - cheaper)
    return {
      text: `${players} gives a concert in a hall in ${dice.pick(towns)} with ${rows} rows of ${seats} seats on the floor and ${balcony} seats on the balcony. A seat on the floor costs ${price} ${currency}, one on the balcony ${cheaper} ${currency} less. The balcony is sold out, but ${unsold} seats on the floor stay empty. After the rent of ${rent} ${currency} is paid, how many ${currency} of the ticket money remain?`,
      answer: income - rent,
      slips: [
        income,
        floor * price + balcony * (price - cheaper) - rent,
        (floor - unsold + balcony) * price - rent,
      ],
    }
  },
  ages(dice) {
    const [a, b, c] = dice.sample(people, 3).map(({ name }) => name)
    const [young, times, older, years] = dice.integers([4, 11], [2, 4], [3, 15], [3, 12])
    const middle = young * times
    const old = middle + older
    const often = ['twice', 'three times', 'four times'][times - 2]
    return {
      text: `${a} is ${young} years old. ${b} is ${often} as old as ${a}, and ${c} is ${older} years older than ${b}. What will the ages of the three add up to in ${years} years?`,
      answer: young + middle + old + 3 * years,
      slips: [young + middle + old + years, young + middle + old, young + middle + young + older + 3 * years],
    }
  },
  recipe(dice) {
    const { name } = dice.pick(people)
    const dish = dice.word('pancakes, dumplings, flatbread, waffles, noodles')
    const [serves, factor, eggs, more] = dice.integers([3, 6], [5, 11], [2, 4], [4, 18])
    const flour = dice.integer(5, 11) * 50
    const guests = serves * factor
    const [bag, price] = [dice.pick([500, 750, 1000]), dice.integer(2, 4)]
    const bags = Math.ceil((flour * factor) / bag)
    const eggPrice = dice.integer(20, 45)
    return {
      text: `A recipe for ${dish} that feeds ${serves} people takes ${flour} grams of flour and ${eggs} eggs. ${name} cooks for ${guests} people and, to be safe, takes ${more} eggs more than the recipe asks for. Flour is sold in bags of ${bag} grams at ${price} euros a bag, and an egg costs ${eggPrice} cents. How many cents does ${name} pay for flour and eggs?`,
      answer: bags * price * 100 + (eggs * factor + more) * eggPrice,
      slips: [
        bags * price * 100 + eggs * factor * eggPrice,
        bags * price + (eggs * factor + more) * eggPrice,
        price * 100 + (eggs * factor + more) * eggPrice,
      ],
    }
  },
  electricityBill(dice) {
    const { name } = dice.pick(people)
    const [service, unit] = dice.pick([
      ['electricity', 'kilowatt hours'],
      ['water', 'cubic metres'],
      ['mobile data', 'gigabytes'],
      ['car sharing', 'kilometres'],
    ])
    const currency = dice.pick(money)
    const [base, included, price, less, extra] = dice.integers([12, 35], [20, 60], [2, 6], [3, 15], [8, 40])
    const [january, february] = [included - less, included + extra]
    return {
      text: `The monthly charge of ${name}'s contract for ${service} is ${base} ${currency} and includes ${included} ${unit}. Each one beyond that costs ${price} ${currency}; what is not used up in a month is lost. ${name} uses ${january} ${unit} in January, ${february} in February, and in March as many as in these two months together. How many ${currency} are due for the three months?`,
      answer: 3 * base + price * (extra + (january + february - included)),
      slips: [
        3 * base + price * (2 * (january + february) - 3 * included),
        base + price * (extra + january + february - included),
        3 * base + price * extra,
      ],
    }
  },
  mountainWalk(dice) {
    const { name, they } = dice.pick(people)
    const [start, climb, down, hours, top] = dice.integers(
      [350, 900, 10],
      [250, 400, 10],
      [60, 150, 10],
      [2, 5],
      [120, 600, 30],
    )
    const after = start + climb * hours - down
    return {
      text: `${name} sets out from a valley inn at ${start} metres above sea level. For ${hours} hours ${they} climbs ${climb} metres per hour, then the path drops by ${down} metres to a hut. The summit lies at ${after + top} metres. After a night at the hut ${they} climbs 30 metres in every 5 minutes. How many minutes does the last part, from the hut to the summit, take?`,
      answer: (top / 30) * 5,
      slips: [((top - down) / 30) * 5, top / 30, (top + after - start) / 6],
    }
  },
  factory(dice) {
    const thing = dice.word('light bulbs, bicycle bells, door locks, thermometers, wall clocks, kettles')
    const [machines, hours, faulty, carton] = dice.integers([3, 9], [6, 12], [10, 25], [4, 12])
    const rate = faulty * dice.integer(1, 4)
    const made = machines * rate * hours
    const good = made - made / faulty
    return {
      text: `A factory in ${dice.pick(towns)} runs ${machines} machines, each of which makes ${rate} ${thing} an hour, for ${hours} hours a day. On average one in ${faulty} is faulty and sorted out. The good ones are packed ${carton} to a carton, and a carton that is not full waits until the next day. If things go exactly as on average, how many full cartons leave on the first day?`,
      answer: Math.floor(good / carton),
      slips: [Math.floor(made / carton), Math.ceil(good / carton), good],
    }
  },
  reading(dice) {
    const { name, they } = dice.pick(people)
    const book = dice.word('history of Venice, Russian novel, biography, travel diary, collection of sagas')
    const [weekday, weekend, weeks, left] = dice.integers([8, 19], [22, 45], [2, 6], [15, 120])
    const read = weeks * (5 * weekday + 2 * weekend)
    return {
      text: `${name} has borrowed a ${book} with ${read + left} pages from the library. From Monday to Friday ${they} reads ${weekday} pages a day, on Saturdays and Sundays ${weekend} pages a day. How many pages are still unread after ${weeks} full weeks?`,
      answer: left,
      slips: [read + left - weeks * (5 * weekday + weekend), read + left - weeks * 7 * weekday, read],
    }
  },
  delivery(dice) {
    const goods = dice.pick([
      ['tiles', 'bricks'],
      ['roof slates', 'paving stones'],
      ['flour', 'sugar'],
      ['gravel', 'sand'],
      ['paper', 'cardboard'],
    ])
    const [many, few, heavy, light] = dice.integers([12, 40], [20, 60], [31, 80], [9, 28])
    const load = dice.integer(6, 14) * 100
    const [way, pause] = dice.integers([15, 45], [20, 40])
    const trips = Math.ceil((many * heavy + few * light) / load)
    return {
      text: `A van carries pallets from the depot in ${dice.pick(towns)}: ${many} with ${goods[0]} at ${heavy} kilograms each and ${few} with ${goods[1]} at ${light} kilograms each. It may be loaded with ${load} kilograms at a time; assume that the pallets can be shared out so that each trip but the last uses this limit fully. A drive takes ${way} minutes each way, and loading and unloading together ${pause} minutes per trip. If the van ends up back at the depot, how many minutes does it need?`,
      answer: trips * (2 * way + pause),
      slips: [
        trips * (way + pause),
        (trips - 1) * (2 * way + pause),
        trips * 2 * way + pause,
        trips * 2 * way,
      ],
    }
  },
  swimming(dice) {
    const { name, they } = dice.pick(people)
    const [laps, more, days] = dice.integers([10, 30], [2, 6], [4, 6])
    const length = dice.pick([25, 50])
    const all = days * laps + (more * days * (days - 1)) / 2
    const lost = dice.integer(3, 9)
    return {
      text: `${name} trains for a long swim in ${dice.pick(towns)}. On the first day ${they} swims ${laps} lengths of a ${length}-metre pool, and on every following day ${more} lengths more than the day before. The training lasts ${days} days, but on the last of them ${they} stops ${lost} lengths early. How many metres does ${name} swim in all?`,
      answer: (all - lost) * length,
      slips: [
        all * length,
        (days * laps - lost) * length,
        all - lost,
        (days * (laps + more) - lost) * length,
      ],
    }
  },
}

/** Word problems of three to five steps with a whole number as the result. */
export const arithmeticQuestions: readonly QuestionMaker[] = Object.values(stories).map(
  (story) => (dice: Dice) => numberQuestion(story(dice)),
)
