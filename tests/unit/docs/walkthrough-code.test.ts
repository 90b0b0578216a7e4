import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPython, importsOf as pythonImportsOf } from '../../../scripts/import-rules/python/read-python.ts'
import { importsOf } from '../../../scripts/import-rules/read-imports.ts'

const ROOT = join(import.meta.dirname, '../../..')
const PAGE = readFileSync(join(ROOT, 'docs/walkthrough-code.md'), 'utf8')
const MAX_FILES = 60

interface Entry {
  readonly position: number
  readonly file: string
  readonly border: string | undefined
  readonly sentence: string
}

const entriesOf = (page: string): readonly Entry[] =>
  [...page.matchAll(/^(\d+)\. `([^`]+)` (?:\(border: ([a-zA-Z ]+)\) )?(.*)$/gm)].map(([, position, file = '', border, sentence = '']) => ({
    position: Number(position),
    file,
    border,
    sentence,
  }))

const python = await readPython(ROOT)
const known = new Map<string, readonly string[]>()
function importedBy(file: string): readonly string[] {
  const found = known.get(file) ?? readImportsOf(file)
  known.set(file, found)
  return found
}
const readImportsOf = (file: string): readonly string[] =>
  file.endsWith('.py')
    ? pythonImportsOf(python, file).map(({ to }) => to)
    : importsOf(file, readFileSync(join(ROOT, file), 'utf8')).flatMap(({ to, isPackage }) => (isPackage ? [] : [to]))

const isPort = (file: string): boolean => file.startsWith('services/ports/')
/** Workers import their ports together. */
const BUNDLE = 'services/workers/deps.ts'

/** The ports that a file uses, with those that a port consists of. */
function portsOf(file: string, found = new Set<string>()): ReadonlySet<string> {
  for (const to of importedBy(file)) {
    if (found.has(to) || !(isPort(to) || to === BUNDLE)) continue
    found.add(to)
    portsOf(to, found)
  }
  return found
}

/** The entries that no earlier one imports and that are no border. A file of the list may be reached through other files of the list. */
function unreached(entries: readonly Entry[]): readonly string[] {
  const listed = new Set(entries.map(({ file }) => file))
  const reached = new Set<string>()
  const visit = (file: string): void => {
    if (reached.has(file)) return
    reached.add(file)
    for (const to of importedBy(file)) if (listed.has(to)) visit(to)
  }
  return entries.flatMap(({ file, border }, index) => {
    const isReached = index === 0 || border !== undefined || reached.has(file)
    visit(file)
    return isReached ? [] : [file]
  })
}

describe('docs/walkthrough-code.md', () => {
  const entries = entriesOf(PAGE)

  it('names at most 60 files once, numbered from 1', () => {
    expect(entries.length).toBeGreaterThan(40)
    expect(entries.length).toBeLessThanOrEqual(MAX_FILES)
    expect(entries.map(({ position }) => position)).toEqual(entries.map((_, index) => index + 1))
    expect(new Set(entries.map(({ file }) => file)).size).toBe(entries.length)
    expect(PAGE.match(/^\d+\. /gm)).toHaveLength(entries.length)
  })

  it('names files that exist, each with one sentence', () => {
    expect(entries.filter(({ file }) => !existsSync(join(ROOT, file)))).toEqual([])
    expect(entries.filter(({ sentence }) => !/^[a-z].*[^.]\.$/.test(sentence) || /\. [A-Z]/.test(sentence))).toEqual([])
  })

  it('follows the imports except at borders', () => {
    expect(unreached(entries)).toEqual([])
  })

  it('marks as a border only what no earlier file imports', () => {
    const borders = entries.filter(({ border }) => border !== undefined)
    const withoutMark = entries.map((entry) => ({ ...entry, border: undefined }))
    expect(unreached(withoutMark)).toEqual(borders.map(({ file }) => file))
  })

  it('has the borders in their order: the table, the queue, the supervisor, HTTP, the kernel', () => {
    const borders = entries.flatMap(({ border }) => border ?? [])
    expect(borders).toEqual(['port', 'port', 'queue', 'port', 'port', 'HTTP', 'kernel frame'])
  })

  it('crosses a port only to an implementation of a port that an earlier file uses', () => {
    const wrong = entries.filter(({ file, border }, index) => {
      const used = new Set(entries.slice(0, index).flatMap((earlier) => [...portsOf(earlier.file)]))
      return border === 'port' && !importedBy(file).some((port) => isPort(port) && used.has(port))
    })
    expect(wrong).toEqual([])
  })
})

it('finds a file that no earlier one imports', () => {
  const page = '1. `services/jobs/lease.ts` grants.\n2. `services/jobs/wait-for-row.ts` waits.'
  expect(unreached(entriesOf(page))).toEqual(['services/jobs/wait-for-row.ts'])
})
