import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Command as CliCommand } from 'commander'
import type { Io } from '../../../packages/cli/src/io.ts'
import { createProgram } from '../../../packages/cli/src/program.ts'
import { addAudit } from '../../../scripts/cli/audit.ts'
import { addBackup } from '../../../scripts/cli/backup.ts'
import { COMMANDS, type Command, type CommandName } from '../../../scripts/commands.ts'
import { ACCOUNT_CHECKS } from '../../../scripts/doctor/check-names.ts'
import { CHAOS_MUTANTS } from '../../chaos/mutants/mutants.ts'
import { SCENARIOS } from '../../chaos/scenarios/registry.ts'

const ROOT = join(import.meta.dirname, '../../..')
const inFolder = (folder: string, ending: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !/(?:^|\/)(?:node_modules|dist)\//.test(name))
    .map((name) => join(folder, name))
const wordsOf = (command: CliCommand): string[] =>
  command.commands.length === 0
    ? [command.name()]
    : command.commands.flatMap((child) => wordsOf(child).map((words) => `${command.name()} ${words}`))
/** The commands of `npm run cli`. */
const CLI = createProgram({ io: {} as Io, exit: () => undefined }, [addAudit, addBackup(async () => undefined)]).commands.flatMap(wordsOf)
const ROOT_PAGES = readdirSync(ROOT).filter((name) => name.endsWith('.md'))
const PAGES = [...ROOT_PAGES, ...inFolder('docs', '.md'), ...inFolder('examples', '.md'), ...inFolder('runtime-image', '.md')]
const text = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const scripts = Object.keys((JSON.parse(text('package.json')) as { readonly scripts: Readonly<Record<string, string>> }).scripts)

/** What an example writes when it runs. */
const MADE = /^examples\/\w+\/out\b/
const isThere = (path: string): boolean =>
  MADE.test(path) || ['', '.ts', '.test.ts'].some((ending) => existsSync(join(ROOT, path + ending)))
const allOf = (page: string, pattern: RegExp): string[] => [...page.matchAll(pattern)].map(([, found]) => found as string)

describe.each(PAGES)('%s', (file) => {
  const page = text(file)

  it('names only files that exist', () => {
    const named = allOf(page, /`((?:tests|services|docs|runtime-image|examples|infra|scripts|bench)\/[\w./-]+)`/g)
    const linked = allOf(page, /\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g).map((to) => normalize(join(dirname(file), to)))
    expect([...named, ...linked].filter((path) => !isThere(path))).toEqual([])
  })

  it('names only commands and options that exist', () => {
    const faults: string[] = []
    for (const call of allOf(page, /npm run ((?:--silent )?[a-z][\w:-]*[^`\n]*)/g)) {
      const [name = '', ...words] = call.replace('--silent ', '').split(' ')
      const script = name.replace(/[^\w:]+$/, '')
      if (!scripts.includes(script)) faults.push(call)
      const command: Command | undefined = COMMANDS[script as CommandName]
      if (script === 'cli') {
        const wanted = words.slice(1).join(' ')
        const isKnown = !/^[a-z]/.test(wanted) || CLI.some((known) => wanted.startsWith(known) || known.startsWith(`${wanted} `))
        if (words[0] === '--' && !isKnown) faults.push(call)
      } else if (command !== undefined && file !== 'docs/walkthrough.md') {
        const source = inFolder(dirname(command.entry[0]), '.ts').map(text).join('\n')
        for (const option of allOf(call, /--([a-z][a-z-]+)/g)) if (!source.includes(option)) faults.push(`${call}: --${option}`)
      }
    }
    expect(faults).toEqual([])
  })
})

const isScenario = (name: string): boolean => SCENARIOS.some((scenario) => scenario.name === name)

describe('docs/tested.md', () => {
  it('names only figures and ratios of the latest benchmark', () => {
    const results = JSON.parse(text('bench/results/latest.json')) as { readonly figures: object; readonly ratios: object }
    const named = allOf(text('docs/tested.md'), /`([a-z]+(?:_[a-z]+)+)`/g)
    expect(named.length).toBeGreaterThan(2)
    expect(named.filter((name) => !(name in results.figures) && !(name in results.ratios))).toEqual([])
  })
})

describe('docs/reliability.md', () => {
  const rows = (page: string): string[][] =>
    page
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.split('|').map((cell) => cell.trim()))
  const table = rows(text('docs/reliability.md'))

  it('names an existing test for each guarantee', () => {
    const guarantees = table.filter(([, first = '']) => /^\d\. /.test(first))
    expect(guarantees.map(([, first = '']) => first[0])).toEqual(['1', '2', '3', '4', '5', '6', '7'])
    for (const [, , tests = ''] of guarantees) expect(allOf(tests, /`([\w./-]+)`/g).filter(isThere)).not.toEqual([])
  })

  it('names only chaos scenarios and tests that exist', () => {
    const named = table
      .flatMap(([, , tests = '']) => allOf(tests, /`tests\/chaos\/` ([\w, -]+)/g))
      .flatMap((names) => names.trim().split(', '))
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => !isScenario(name) && !isThere(`tests/chaos/${name}`))).toEqual([])
  })

  it('lists exactly the mutants of the chaos suite', () => {
    const documented = table.flatMap(([, what = '', by = '']) => (isScenario(by) ? [`${what}: ${by}`] : []))
    expect(documented.toSorted()).toEqual(CHAOS_MUTANTS.map(({ what, scenario }) => `${what}: ${scenario}`).toSorted())
  })
})

describe('the checks of npm run doctor -- --aws', () => {
  const isCheck = (name: string): boolean => (ACCOUNT_CHECKS as readonly string[]).includes(name)
  /** What only a real account can prove, and the cell that names its check. */
  const unproven = [...text('docs/deploy.md').matchAll(/^\| (?!Not proven)([^|]+) \| [^|]+ \| ([^|]+) \|$/gm)].map(
    ([, what = '', cell = '']) => ({ what, cell }),
  )
  const namedIn = (cell: string): string[] => allOf(cell, /`([A-Z][\w ]+)`/g)

  it('are named for each sentence that only a real account can prove, or the reason why there is none', () => {
    expect(unproven.length).toBeGreaterThan(20)
    expect(unproven.filter(({ cell }) => namedIn(cell).length === 0 && !/^none: \w/.test(cell))).toEqual([])
    expect(unproven.flatMap(({ cell }) => namedIn(cell)).filter((name) => !isCheck(name))).toEqual([])
  })

  it('are all named in docs/deploy.md', () => {
    expect(ACCOUNT_CHECKS.filter((name) => !text('docs/deploy.md').includes(`\`${name}\``))).toEqual([])
  })

  it('are named in docs/emulator.md only if they exist', () => {
    const named = allOf(text('docs/emulator.md'), /doctor ((?:`[A-Z][\w ]+`(?:, )?)+)/g).flatMap(namedIn)
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => !isCheck(name))).toEqual([])
  })

  it('are all reported by the code', () => {
    const sources = inFolder('scripts/doctor/account', '.ts').map(text).join('\n')
    expect(ACCOUNT_CHECKS.filter((name) => !sources.includes(`'${name}'`))).toEqual([])
  })
})

describe('docs/glossary.md', () => {
  const symbols = allOf(text('docs/glossary.md'), /\|([^|]*)\|$/gm).flatMap((cell) => allOf(cell, /`(\w+)`/g))
  const sources = [...inFolder('services', '.ts'), ...inFolder('runtime-image/supervisor', '.py')].map(text).join('\n')

  it('names only symbols that exist in the code', () => {
    expect(symbols.length).toBeGreaterThan(40)
    expect(symbols.filter((symbol) => !new RegExp(String.raw`\b${symbol}\b`).test(sources))).toEqual([])
  })
})

describe('docs/configuration.md', () => {
  const named = new Set(allOf(text('docs/configuration.md'), /`([A-Z][A-Z0-9_]+)`/g))

  it('documents every variable of the local server', () => {
    const schema = /const LocalEnv = z\.object\(\{([\s\S]*?)\n\}\)/.exec(text('services/entries/local/config.ts'))?.[1] ?? ''
    const variables = allOf(schema, /^ {2}([A-Z][A-Z0-9_]+):/gm)
    expect(variables.length).toBeGreaterThan(10)
    expect(variables.filter((name) => !named.has(name))).toEqual([])
  })

  it('names only variables that the code reads', () => {
    const sources = [...inFolder('services', '.ts'), ...inFolder('scripts', '.ts')].map(text).join('\n')
    expect([...named].filter((name) => !sources.includes(name))).toEqual([])
  })
})

describe('docs/adr/README.md', () => {
  it('lists every decision record', () => {
    const records = readdirSync(join(ROOT, 'docs/adr'), { recursive: true, encoding: 'utf8' }).filter((name) => /(^|\/)\d{4}-/.test(name))
    const listed = allOf(text('docs/adr/README.md'), /^\| \[\d{4}\]\(([^)]+)\)/gm)
    expect(listed.toSorted()).toEqual(records.toSorted())
  })
})

describe('docs/architecture.md, "Where to change what"', () => {
  const section = text('docs/architecture.md').split('## Where to change what')[1] ?? ''
  /** Files in the folder of a row "its folder and N" are not counted. */
  const examples = [...section.matchAll(/^\| ([^|]+) \| (its folder and )?(\d+) \| (.*) \| `(.+)` \|$/gm)].map(
    ([, change = '', own, files = '', example = '', pattern = '']) => ({
      change,
      files: Number(files),
      folder: own === undefined ? null : (/`(services\/[\w/-]+\/)`/.exec(example)?.[1] ?? ''),
      pattern: new RegExp(pattern.replaceAll(String.raw`\|`, '|')),
    }),
  )
  const GENERATED = 'packages/client/src/api.ts'
  const sources = [
    ...['services', 'infra', 'packages', 'scripts', 'examples/tools'].flatMap((folder) =>
      ['.ts', '.tsx', '.mjs'].flatMap((ending) => inFolder(folder, ending)),
    ),
    ...inFolder('runtime-image/supervisor', '.py'),
  ].filter((file) => file !== GENERATED)

  it('has examples with a pattern', () => {
    expect(examples.length).toBeGreaterThan(12)
    expect(examples.flatMap(({ folder }) => folder ?? [])).toHaveLength(4)
    expect(examples.filter(({ folder }) => folder !== null && !sources.some((file) => folder !== '' && file.startsWith(folder)))).toEqual(
      [],
    )
  })

  it('searches the packages and the components of the page', () => {
    expect(sources).toContain('packages/client/src/client.ts')
    expect(sources.some((file) => /^packages\/playground\/.*\.tsx$/.test(file))).toBe(true)
    expect(text(GENERATED)).toContain('auto-generated by openapi-typescript')
  })

  it.each(examples)('needs at most $files files for $change', ({ files, folder, pattern }) => {
    const found = sources.filter((file) => (folder === null || !file.startsWith(folder)) && pattern.test(text(file)))
    expect(found.length, found.join(' ')).toBeGreaterThan(0)
    expect(found.length, found.join(' ')).toBeLessThanOrEqual(files)
  })
})
