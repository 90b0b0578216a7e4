import { expect, it } from 'vitest'
import { e2bChart, e2bData, withFloats } from '../../../../services/wires/e2b/charts.ts'

const axis = (label: string | null) => ({ label, scale: 'linear', ticks: [0, 1], tick_labels: ['0', '1'] })
const figure = (...charts: readonly object[]) => ({
  title: 'All',
  charts: charts.map((chart) => ({ title: 'One', x: axis('Time (s)'), y: axis('Speed [m/s]'), ...chart })),
})

it('gives points of lines with labels, units and ticks', () => {
  const series = [
    { kind: 'line', label: 'a', points: 2, x: ['2024-01-01', 2], y: [3, null] },
    { kind: 'line', label: null, points: 1, x: [1], y: [2] },
  ]
  expect(e2bChart(figure({ kind: 'line', series }))).toEqual({
    type: 'line',
    title: 'One',
    x_label: 'Time (s)',
    y_label: 'Speed [m/s]',
    x_unit: 's',
    y_unit: 'm/s',
    x_scale: 'linear',
    y_scale: 'linear',
    x_ticks: [0, 1],
    y_ticks: [0, 1],
    x_tick_labels: ['0', '1'],
    y_tick_labels: ['0', '1'],
    elements: [
      {
        label: 'a',
        points: [
          ['2024-01-01', 3],
          [2, null],
        ],
      },
      { label: 'Line 1', points: [[1, 2]] },
    ],
  })
})

it('gives bars and slices by their categories', () => {
  const bar = { kind: 'bar', label: null, orientation: 'vertical', points: 1, categories: ['A'], values: [5] }
  expect(e2bChart(figure({ kind: 'bar', series: [bar] }))).toMatchObject({
    type: 'bar',
    elements: [{ label: 'A', group: 'Group 0', value: 5 }],
  })
  const pie = { kind: 'pie', label: null, points: 2, categories: ['A', null], values: [0.9, 0.1] }
  expect(e2bChart(figure({ kind: 'pie', series: [pie] }))).toEqual({
    type: 'pie',
    title: 'One',
    elements: [
      { label: 'A', angle: 324, radius: 1 },
      { label: '', angle: 36, radius: 1 },
    ],
  })
})

it('names the axes of lying bars as if they stood', () => {
  const bar = { kind: 'bar', label: 'b', orientation: 'horizontal', points: 1, categories: ['A'], values: [5] }
  expect(e2bChart(figure({ kind: 'bar', series: [bar] }))).toMatchObject({ x_label: 'Speed [m/s]', y_label: 'Time (s)' })
})

it('gives several charts as one, and a chart of another kind without elements', () => {
  expect(e2bChart(figure({ kind: 'mixed', series: [] }, { kind: 'unknown', series: [] }))).toMatchObject({
    type: 'superchart',
    title: 'All',
    elements: [
      { type: 'unknown', elements: [] },
      { type: 'unknown', elements: [] },
    ],
  })
})

it.for([undefined, null, 1, {}, { title: null, charts: [] }, { title: 1, charts: [{}] }])('gives nothing for %j', (value) => {
  expect(e2bChart(value)).toBeUndefined()
  expect(e2bData(value)).toBeUndefined()
})

it('gives the columns of a whole table without its index, and nothing of a part', () => {
  const table = (rows: number) => ({
    schema: { fields: [{ name: 'index' }, { name: 'a' }, { name: 'b' }], primaryKey: ['index'] },
    data: [
      { index: 0, a: 1, b: 'x' },
      { index: 1, a: 2, b: null },
    ],
    cellblock: { rows, columns: 2, rows_shown: 2, columns_shown: 2 },
  })
  expect(e2bData(table(2))).toEqual({ a: [1, 2], b: ['x', null] })
  expect(e2bData(table(3))).toBeUndefined()
})

it('sends whole numbers with a fraction, as Python does', () => {
  expect(JSON.stringify(withFloats({ a: [1, 2.5, -3, 'x', null, true, 1e20, 1e21] }))).toBe(
    '{"a":[1.0,2.5,-3.0,"x",null,true,100000000000000000000.0,1e+21]}',
  )
})
