import type { ActionHeat } from '../action-heat.ts'
import { drawing, rectangle, type SvgElement, shortenedText, svgElement, text, textWidth } from './svg.ts'

const rowHeight = 20

/** Roles by updates: the stronger a cell's colour, the larger its share of the placed units. */
export function heatMap({ rows, starts, last }: ActionHeat, width = 860): SvgElement {
  // On a narrow page, names are cut to leave room for the cells.
  const widest = Math.max(60, ...rows.map(({ role }) => textWidth(role)))
  const left = 62 + Math.min(widest + 8, Math.max(100, width * 0.25))
  const top = 8
  const cell = (width - left - 8) / Math.max(1, starts.length)
  const bottom = top + rows.length * rowHeight
  const most = Math.max(0.01, ...rows.flatMap(({ shares }) => shares))
  const cells = rows.flatMap(({ role, granularity, shares }, row) => [
    shortenedText(role, left - 62, left - 56, top + row * rowHeight + 14, {
      class: 'label',
      'text-anchor': 'end',
    }),
    text(granularity === 'group' ? 'group' : 'agent', left - 10, top + row * rowHeight + 14, {
      class: 'tick',
      'text-anchor': 'end',
    }),
    ...shares.flatMap((share, column) =>
      share === 0
        ? []
        : [
            rectangle(
              {
                x: left + column * cell,
                y: top + row * rowHeight + 1,
                width: Math.max(0.5, cell - 1),
                height: rowHeight - 2,
              },
              'heat',
              // Not proportional, so that rare choices stay visible.
              { 'fill-opacity': Math.round((share / most) ** 0.75 * 100) / 100 },
            ),
          ],
    ),
  ])
  const marks = [...new Set([0, 0.25, 0.5, 0.75].map((part) => Math.floor(part * starts.length)))]
  return drawing(width, bottom + 44, 'Share of placed units by role and granularity, over the updates', [
    svgElement('rect', {
      x: left,
      y: top,
      width: width - left - 8,
      height: bottom - top,
      class: 'heat-ground',
    }),
    ...cells,
    ...marks.map((column) =>
      text(String(starts[column] ?? 1), left + (column + 0.5) * cell, bottom + 18, {
        class: 'tick',
        'text-anchor': 'middle',
      }),
    ),
    text(String(last), width - 8, bottom + 18, { class: 'tick', 'text-anchor': 'end' }),
    text('update', (left + width) / 2, bottom + 36, { class: 'axis-title', 'text-anchor': 'middle' }),
  ])
}
