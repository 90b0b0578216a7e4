import { expect, it } from 'vitest'
import { measureNoise } from '../load/noise/measure-noise.ts'
import { tooNoisy } from '../load/noise/noise-table.ts'

const WINDOW_MS = 1_000
/** Other suites use the machine too: this finds a server that hangs or ends, and the command finds one that is slow. */
const SLOWER = 100

it('answers a tenant while another one takes every parser, form of connection and pool in turn', async () => {
  const figures = await measureNoise({ windowMs: WINDOW_MS, isWhole: false, isOneServer: true, say: () => undefined })
  expect(figures.length).toBeGreaterThan(8)
  expect(figures.flatMap((figure) => tooNoisy(figure, SLOWER).map((why) => `${figure.form}: ${why}`))).toEqual([])
})
