import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { IMAGE_VARIANTS, type ImageVariant } from '../../scripts/setup/image-inputs.ts'

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
  readonly expectations: readonly Expectation[]
  readonly code: string
}

const KINDS = new Set([
  ...['stdout', 'not-stdout', 'stderr', 'result', 'result-any', 'mime', 'figure', 'figures', 'file', 'files', 'files-only'],
  ...['error', 'hint', 'status'],
])

/**
 * Reads the programs of every category. A file has one category; `# %% title` begins a program, and lines `#| kind: text` after it say what is
 * expected. Throws an Error for a line that has no meaning.
 */
export async function readPrograms(): Promise<readonly Program[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.py')).toSorted()
  const files = await Promise.all(names.map(async (name) => parseFile(name.slice(0, -3), await readFile(join(FOLDER, name), 'utf8'))))
  return files.flat()
}

export function parseFile(category: string, source: string): readonly Program[] {
  return source
    .split(/^# %% /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n')
      const notes = lines.filter((line) => line.startsWith('#| ')).map((line) => parseNote(`${category}: ${title}`, line))
      const image = notes.find(({ kind }) => kind === 'image')?.text ?? 'slim'
      const variant = IMAGE_VARIANTS.find((known) => known === image)
      if (variant === undefined) throw new Error(`${category}: ${title}: there is no variant ${image}.`)
      return {
        category,
        title,
        image: variant,
        expectations: notes.filter(({ kind }) => kind !== 'image'),
        code: lines
          .filter((line) => !line.startsWith('#| '))
          .join('\n')
          .trim(),
      }
    })
}

function parseNote(where: string, line: string): Expectation {
  const [, kind = '', text = ''] = /^#\| ([\w-]+)(?:: (.*))?$/.exec(line) ?? []
  if (kind !== 'image' && !KINDS.has(kind)) throw new Error(`${where}: unknown expectation ${JSON.stringify(line)}.`)
  return { kind, text }
}

export const runsOn = (program: Program, variant: ImageVariant): boolean =>
  IMAGE_VARIANTS.indexOf(program.image) <= IMAGE_VARIANTS.indexOf(variant)
