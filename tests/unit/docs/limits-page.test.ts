import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ERRORS } from '../../../services/model/errors.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import { snakeCase } from '../../../services/model/snake-case.ts'
import { DEFAULT_LIMITS } from '../../../services/model/tenants/tenant-limits.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/limits.md'), 'utf8')
const [, fixed = ''] = page.split('\n## Fixed values\n')
const UNITS = [
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
] as const

function shown(name: string, value: number): string {
  const [unit, bytes] = UNITS.find(([, size]) => name.endsWith('Bytes') && value >= size && (2 * value) % size === 0) ?? ['', 1]
  return `${(value / bytes).toLocaleString('en')} ${unit}`.trim()
}

it('has a row with the value of each fixed limit', () => {
  const rows = [...fixed.matchAll(/^\| `(\w+)` \| ([\d.,]+(?: [GMK]iB)?) \| .+ \|$/gm)].map(([, name, value]) => `${name}: ${value}`)
  expect(rows.toSorted()).toEqual(
    Object.entries(LIMITS)
      .map(([name, value]) => `${snakeCase(name)}: ${shown(name, value)}`)
      .toSorted(),
  )
})

it('names each limit that an operator sets', () => {
  expect(Object.keys(DEFAULT_LIMITS).filter((name) => !page.includes(`\`${snakeCase(name)}\``))).toEqual([])
})

it('names each error of a reached limit with its status', () => {
  const ofLimits = Object.entries(ERRORS).filter(([code, { status }]) => [408, 413, 429].includes(status) || code === 'limit_exceeded')
  expect(ofLimits.length).toBeGreaterThan(10)
  expect(ofLimits.map(([code, { status }]) => `${status} \`${code}\``).filter((cell) => !page.includes(cell))).toEqual([])
})
