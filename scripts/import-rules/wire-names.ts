import { readdirSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Folders whose names have another meaning too, an ordinary word and a provider of models. The rules of layers refuse imports of them. */
export const AMBIGUOUS_NAMES: readonly string[] = ['native', 'openai']
/** Folders of `services/wires` whose names occur in that layer only. */
export const WIRE_NAMES: readonly string[] = readdirSync(join(import.meta.dirname, '../../services/wires'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !AMBIGUOUS_NAMES.includes(entry.name))
  .map(({ name }) => name)

interface Exception {
  readonly file: string
  readonly line: string
  /** Why no wire can own this line. */
  readonly reason: string
}
export const EXCEPTIONS: readonly Exception[] = [
  {
    file: 'services/entries/api/docs.ts',
    line: 'mcp: { disabled: true },',
    reason: 'an option of the library that shows the API reference; it does not mean our wire',
  },
  {
    file: 'services/operations/turns/check-input.ts',
    line: "const IGNORED_ITEMS = ['reasoning', 'mcp_list_tools']",
    reason: 'a type of items of the Responses API, which are the domain model; it does not mean our wire',
  },
]

const NAME = new RegExp(WIRE_NAMES.join('|'), 'i')
const isException = (file: string, line: string): boolean => EXCEPTIONS.some((one) => one.file === file && one.line === line.trim())

/** The lines of a file outside `services/wires` that name a wire, comments included. */
export const namedWires = (file: string, text: string): readonly string[] =>
  text.split('\n').flatMap((line, index) => {
    const name = NAME.exec(line)?.[0]
    if (name === undefined || isException(file, line)) return []
    return [`${file}:${index + 1} names the wire ${name.toLowerCase()}: only its own folder and services/wires/*.ts may`]
  })

/** The same for all of `services`. */
export async function findNamedWires(root: string): Promise<readonly string[]> {
  const findings: string[] = []
  for await (const file of glob('services/**/*.ts', { cwd: root, exclude: ['services/wires'] }))
    findings.push(...namedWires(file, file), ...namedWires(file, await readFile(join(root, file), 'utf8')))
  return findings
}
