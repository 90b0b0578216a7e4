import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { EXECUTION_LANGUAGES, type ExecutionLanguage } from '../../services/model/executions/language.ts'
import { IMAGE_VARIANTS, type ImageVariant } from '../../infra/build/image-inputs.ts'

const FOLDER = join(import.meta.dirname, 'sample-programs')

/** What a program is expected to show. Texts are looked for inside the part that their field names. */
export interface Expectation {
  readonly kind: string
  readonly text: string
}

/** One realistic program with what a user expects of it. */
export interface Program {
  readonly category: string
  readonly title: string
  /** The smallest variant that can run it. */
  readonly image: ImageVariant
  /** The largest variant that behaves so, for a program that a larger one does not have to explain. */
  readonly until: ImageVariant
  readonly expectations: readonly Expectation[]
  readonly language: ExecutionLanguage
  /** Cells that run one after another in one container. What is expected concerns the last one. */
  readonly cells: readonly Cell[]
}

export interface Cell {
  readonly code: string
  /** Its container hibernates before it. */
  readonly isAfterSleep: boolean
}

const LANGUAGES: Readonly<Record<string, ExecutionLanguage>> = { '.py': 'python', '.R': 'r' }

const PROPERTIES = new Set(['image', 'until', 'language', 'next', 'sleep'])
const NEXT_CELL = /^#\| (next|sleep)$/m

const KINDS = new Set([
  ...['stdout', 'not-stdout', 'stderr', 'result', 'result-any', 'mime', 'figure', 'figures', 'file', 'files', 'files-only'],
  ...['error', 'hint', 'status', 'lost', 'preview'],
])

/**
 * Reads the programs of every category. A file has one category and, by its ending, one language. `# %% title` begins a program. Lines `#| kind: text`
 * after it say what is expected, or name its images and language. `#| next` and `#| sleep` separate cells. Throws an Error for a line that has no meaning.
 */
export async function readPrograms(): Promise<readonly Program[]> {
  const names = (await readdir(FOLDER)).filter((name) => Object.hasOwn(LANGUAGES, extname(name))).toSorted()
  const files = await Promise.all(
    names.map(async (name) =>
      parseFile(basename(name, extname(name)), await readFile(join(FOLDER, name), 'utf8'), LANGUAGES[extname(name)]),
    ),
  )
  return files.flat()
}

export function parseFile(category: string, source: string, language: ExecutionLanguage = 'python'): readonly Program[] {
  return source
    .split(/^# %% /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n')
      const notes = lines.filter((line) => line.startsWith('#| ')).map((line) => parseNote(`${category}: ${title}`, line))
      const known = <T extends string>(kind: string, values: readonly T[], defaultValue: T): T => {
        const wanted = notes.find((note) => note.kind === kind)?.text ?? defaultValue
        const found = values.find((value) => value === wanted)
        if (found === undefined) throw new Error(`${category}: ${title}: there is no ${kind} ${wanted}.`)
        return found
      }
      return {
        category,
        title,
        image: known('image', IMAGE_VARIANTS, 'slim'),
        until: known('until', IMAGE_VARIANTS, 'full'),
        language: known('language', EXECUTION_LANGUAGES, language),
        expectations: notes.filter(({ kind }) => !PROPERTIES.has(kind)),
        cells: parseCells(lines),
      }
    })
}

function parseCells(lines: readonly string[]): readonly Cell[] {
  const [first = '', ...rest] = lines
    .filter((line) => NEXT_CELL.test(line) || !line.startsWith('#| '))
    .join('\n')
    .split(NEXT_CELL)
  const cells: Cell[] = [{ code: first.trim(), isAfterSleep: false }]
  // The split gives the separator's name before each further cell.
  for (let at = 0; at < rest.length; at += 2) cells.push({ code: (rest[at + 1] ?? '').trim(), isAfterSleep: rest[at] === 'sleep' })
  return cells
}

function parseNote(where: string, line: string): Expectation {
  const [, kind = '', text = ''] = /^#\| ([\w-]+)(?:: (.*))?$/.exec(line) ?? []
  if (!PROPERTIES.has(kind) && !KINDS.has(kind)) throw new Error(`${where}: unknown expectation ${JSON.stringify(line)}.`)
  return { kind, text }
}

/** `count` of the programs, the same ones in each run. A program that is added replaces at most one of them. */
export function sampleOf(programs: readonly Program[], count: number): readonly Program[] {
  const place = ({ category, title }: Program): string => createHash('sha256').update(`${category}: ${title}`).digest('hex')
  const chosen = new Set(programs.toSorted((one, other) => (place(one) < place(other) ? -1 : 1)).slice(0, count))
  return programs.filter((program) => chosen.has(program))
}

export const runsOn = (program: Program, variant: ImageVariant): boolean =>
  IMAGE_VARIANTS.indexOf(program.image) <= IMAGE_VARIANTS.indexOf(variant) &&
  IMAGE_VARIANTS.indexOf(variant) <= IMAGE_VARIANTS.indexOf(program.until)
