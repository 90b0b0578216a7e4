// Writes the table of libraries in docs/images.md from the locked requirements of the images: `node scripts/library-table.ts`.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { IMAGE_VARIANTS, type ImageVariant } from '../infra/build/image-inputs.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGE = join(ROOT, 'docs/images.md')
const MARKERS = ['<!-- libraries: begin -->', '<!-- libraries: end -->'] as const

/** The table as it should stand in docs/images.md: libraries that the .in files name, with the locked version and the smallest image. */
export async function libraryTable(): Promise<string> {
  const rows = new Map<string, string>()
  for (const variant of IMAGE_VARIANTS) {
    const versions = await lockedVersions(variant)
    for (const name of await namedLibraries(variant))
      if (!rows.has(name)) rows.set(name, `| ${name} | ${versions.get(name) ?? '?'} | ${variant} |`)
  }
  const sorted = [...rows].toSorted(([a], [b]) => a.localeCompare(b, 'en')).map(([, row]) => row)
  return ['| Library | Version | From image |', '|---|---|---|', ...sorted].join('\n')
}

/** The part of the page between the markers. Throws an Error when the page has none. */
export function tableIn(page: string): string {
  const [begin, end] = MARKERS.map((marker) => page.indexOf(marker))
  if (begin === undefined || end === undefined || begin < 0 || end < begin)
    throw new Error('docs/images.md has lost the markers of its table.')
  return page.slice(begin + MARKERS[0].length, end).trim()
}

const requirement = (variant: ImageVariant, ending: string): Promise<string> =>
  readFile(join(ROOT, 'runtime-image/requirements', `${variant}.${ending}`), 'utf8')

const normalized = (name: string): string => name.replaceAll(/[-_.]+/g, '-').toLowerCase()

async function namedLibraries(variant: ImageVariant): Promise<readonly string[]> {
  const lines = (await requirement(variant, 'in')).split('\n')
  return lines.flatMap((line) => /^[A-Za-z0-9][\w.-]*/.exec(line)?.[0] ?? []).map(normalized)
}

async function lockedVersions(variant: ImageVariant): Promise<ReadonlyMap<string, string>> {
  const found = (await requirement(variant, 'lock')).matchAll(/^([\w.-]+)==(\S+)/gm)
  return new Map([...found].map(([, name = '', version = '']) => [normalized(name), version]))
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const page = await readFile(PAGE, 'utf8')
  await writeFile(PAGE, page.replace(tableIn(page), await libraryTable()))
}
