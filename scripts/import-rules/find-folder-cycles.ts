import type { Import } from './read-imports.ts'

/** One step of a cycle: why a file or folder depends on another one beside it. */
type Dependencies = Map<string, Map<string, Import>>

/**
 * Cycles between files and folders that stand side by side, at every depth: a folder counts as all its files. Each is a sentence that names one import
 * for every step. At least one for every group that depends on itself.
 */
export function findFolderCycles(imports: readonly Import[]): string[] {
  const folders = new Map<string, Dependencies>()
  for (const each of imports) {
    if (each.isPackage) continue
    const from = each.from.split('/')
    const to = each.to.split('/')
    const depth = from.findIndex((part, index) => part !== to[index])
    const [source, target] = [from[depth], to[depth]]
    if (source === undefined || target === undefined) continue
    const siblings = mapIn(folders, from.slice(0, depth).join('/'))
    const targets = mapIn(siblings, source)
    if (!targets.has(target)) targets.set(target, each)
  }
  return [...folders.values()].flatMap(cyclesAmong)
}

function mapIn<Value>(maps: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
  const found = maps.get(key) ?? new Map<string, Value>()
  maps.set(key, found)
  return found
}

function cyclesAmong(siblings: Dependencies): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const visit = (unit: string, path: readonly { readonly unit: string; readonly by: Import }[]): void => {
    const start = path.findIndex((step) => step.unit === unit)
    if (start !== -1)
      return void found.push(
        path
          .slice(start)
          .map(({ by }) => `${by.from} -> ${by.to}`)
          .join(', '),
      )
    if (done.has(unit)) return
    for (const [target, by] of siblings.get(unit) ?? []) visit(target, [...path, { unit, by }])
    done.add(unit)
  }
  for (const unit of siblings.keys()) visit(unit, [])
  return found
}
