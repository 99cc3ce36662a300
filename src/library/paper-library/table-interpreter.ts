import type { RoleDefinition } from '../library.ts'
import { prompt } from '../prompt.ts'
import { accountForWorkers, answerOrNull, handOn, surviveOrNull, weighPredecessors } from './phrasing.ts'

export const tableInterpreter: RoleDefinition = {
  id: 'table_interpreter',
  description:
    'Reads tables: locates the rows, columns, entities, time references and scales that a question is about.',
  atomic: {
    id: 'table_interpreter',
    responsibility: 'Locate rows, columns, entities, time references, and scales.',
    tools: ['table_reader'],
    prompt: prompt(
      `You read the table for everyone else. Determine what a row and a column stand for, resolve merged or
      repeated headers, and find every cell that the question needs: entity, measure, period. Copy values
      exactly, with sign, parentheses for negatives and footnote marks. State the scale and unit (thousands,
      millions, percent) and where the table or the text says so. Watch totals, subtotals and rows with
      similar names.`,
      `If table_reader is available, use it to fetch or count cells rather than trusting your eye, above all
      in long tables.`,
      handOn(
        `the located cells as row, column and value, the scale, and cells that were ambiguous or absent.`,
      ),
      weighPredecessors,
      answerOrNull,
    ),
  },
  group: {
    workers: [
      {
        id: 'row_locator',
        responsibility: 'Find all rows that the question or claim refers to.',
        tools: ['table_reader'],
        prompt: prompt(
          `You find rows. From the question take every entity, category and condition that picks rows, and
          find all rows that match, not only the first. Allow for spelling, abbreviations, nesting under a
          heading and names spread over cells; keep total and subtotal rows apart from ordinary ones. For
          counts, superlatives and "all" or "none", list the full set of candidates and apply the condition
          to each.`,
          `If table_reader is available, filter or look up with it, above all when the table is long.`,
          handOn(`the matching rows with their identifying cells, near misses and why they do not match, and
          how many rows you examined.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'column_relation_analyst',
        responsibility: 'Determine which columns are meant and how columns and rows relate to each other.',
        tools: ['table_reader'],
        prompt: prompt(
          `You determine columns and relations. Say what each column measures, resolving stacked headers and
          units in parentheses, and which column answers to which word of the question. Then work out how
          values relate: parts and totals, differences and changes, ranks, ratios, columns that repeat or
          derive from others. Where two columns could be meant, give both with the reading that leads to
          each.`,
          `If table_reader is available, read the headers and a few rows with it to confirm the relation on
          real values.`,
          handOn(`the columns to use and why, the relation or formula between them, and a check of that
          relation on at least one row.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
      {
        id: 'temporal_scale_checker',
        responsibility: 'Check periods, dates, units, and scales of the values that are used.',
        tools: ['table_reader'],
        prompt: prompt(
          `You check time and scale. For each value that the question needs, establish its period (fiscal or
          calendar year, as of or during, which end of a change) and its scale and unit, from headers,
          captions, footnotes and surrounding text. Note where table and text use different scales, where a
          percentage sits among amounts, and which direction "from" and "to" imply. Look out for columns in
          reverse order of time.`,
          `If table_reader is available, use it to read the header cells and the values in question exactly.`,
          handOn(`period, unit and scale of every value with the place that says so, the scale the answer
          should carry, and anything only assumed.`),
          weighPredecessors,
          answerOrNull,
        ),
      },
    ],
    aggregator: {
      id: 'table_aggregator',
      responsibility:
        'Combine rows, columns, periods, and scales into the exact cells that answer the question.',
      prompt: prompt(
        `You pin down the cells from row_locator, column_relation_analyst and temporal_scale_checker.
        Intersect their findings: each needed value is one row, one column, one period, one scale. Check
        every value against the table as the task shows it; a value that a tool really returned outweighs
        one read by eye. If rows or columns are disputed, carry both candidates and say which the wording
        favours. If a simple operation on the cells answers the question, perform it and show it.`,
        accountForWorkers,
        handOn(
          `the cells with values, scale and period, the operation they call for, disputed readings, and
          failed look-ups.`,
        ),
        surviveOrNull,
      ),
    },
  },
}
