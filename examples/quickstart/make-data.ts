// Writes sales.csv: one year of a small shop, the same rows on every machine. The columns are explained in DATA.md.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const SEED = 20_240_101
const ROWS = 480
const REGIONS = ['North', 'South', 'East', 'West'] as const
const CHANNELS = ['shop', 'shop', 'web', 'web', 'web'] as const
const PRODUCTS = [
  { name: 'Ceramic mug', category: 'Kitchen', price: 14.5, cost: 5.2, season: 0 },
  { name: 'Tea sampler', category: 'Kitchen', price: 22, cost: 9.1, season: 0.5 },
  { name: 'Wool blanket', category: 'Home', price: 79, cost: 38, season: 0.9 },
  { name: 'Beeswax candle', category: 'Home', price: 12, cost: 3.4, season: 0.6 },
  { name: 'Canvas tote', category: 'Travel', price: 18, cost: 6.3, season: -0.3 },
  { name: 'Picnic hamper', category: 'Travel', price: 95, cost: 51, season: -0.9 },
] as const

/** Mulberry32: small, and the same sequence everywhere. */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The whole file as text, header first, ordered by date. */
export function makeSales(): string {
  const random = seededRandom(SEED)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const days = Array.from({ length: ROWS }, () => Math.floor(random() * 366)).toSorted((a, b) => a - b)
  const rows = days.map((day, index) => {
    const product = pick(PRODUCTS)
    // Positive seasons sell in winter, negative ones in summer.
    const demand = 1 + product.season * Math.cos((2 * Math.PI * day) / 366)
    const units = Math.max(1, Math.round(demand * (1 + random() * 6)))
    const discount = random() < 0.25 ? pick([0.05, 0.1, 0.2]) : 0
    const date = new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10)
    // Some orders of the web shop came without a region.
    const channel = pick(CHANNELS)
    const region = channel === 'web' && random() < 0.04 ? '' : pick(REGIONS)
    const returned = random() < (channel === 'web' ? 0.08 : 0.03) ? 1 : 0
    return [
      1001 + index,
      date,
      region,
      channel,
      product.name,
      product.category,
      units,
      product.price.toFixed(2),
      product.cost.toFixed(2),
      discount,
      returned,
    ]
  })
  const header = [
    'order_id',
    'date',
    'region',
    'channel',
    'product',
    'category',
    'units',
    'unit_price',
    'unit_cost',
    'discount',
    'returned',
  ]
  return `${[header, ...rows].map((row) => row.join(',')).join('\n')}\n`
}

if (import.meta.main) await writeFile(join(import.meta.dirname, 'sales.csv'), makeSales())
