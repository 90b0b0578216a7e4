import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Import } from './read-imports.ts'

/** A file of fewer lines has two importers or its own test; otherwise it belongs into its importer. */
const MIN_LINES = 40

/**
 * Lists of objects of one form. Each object may have a small file, so that another one is added with a new file and a line of the list, and so may the
 * list.
 */
export const TABLES: readonly string[] = [
  'services/adapters/drivers/deployments.ts',
  'services/adapters/storage/rows/table.ts',
  'services/entries/local/sandboxes.ts',
  'services/model/executions/events/event-types.ts',
  'services/model/responses/items/item-types.ts',
  'services/wires/one-machine.ts',
  'services/wires/routes.ts',
  'services/wires/settings.ts',
  'services/workers/reconcile/job-kinds.ts',
  'services/workers/turn/tools/offered-tools.ts',
]

/** Files that AWS starts and no file imports. */
const STARTED = /^services\/entries\/aws\/.*\/(?:lambda|upload-server)\.ts$/

/** Sentences about small files of `services`. `lines`: the number of lines by path. */
export function findSmallFiles(imports: readonly Import[], lines: ReadonlyMap<string, number>): string[] {
  const importers = Map.groupBy(imports, ({ to }) => to)
  return [...lines].flatMap(([file, count]) => {
    if (count >= MIN_LINES || TABLES.includes(file) || STARTED.test(file)) return []
    const [importer, ...others] = new Set(importers.get(file)?.map(({ from }) => from))
    if (importer === undefined) return [`${file} has no importer: remove it`]
    if (others.length > 0 || importer.startsWith('tests/') || TABLES.includes(importer)) return []
    return [`${file} has ${count} lines and one importer: move it into ${importer}, or give it its own test`]
  })
}

/** The number of lines of every file of `services`. */
export async function readLineCounts(root: string): Promise<ReadonlyMap<string, number>> {
  const lines = new Map<string, number>()
  for await (const file of glob('services/**/*.ts', { cwd: root }))
    lines.set(file, (await readFile(join(root, file), 'utf8')).split('\n').length - 1)
  return lines
}
