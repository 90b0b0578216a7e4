import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { SANDBOX, type Requirement } from '../commands.ts'

/** What the tests below a path of tests/ need. Every entry counts that lies below a named path or contains it. */
const NEEDS: readonly (readonly [path: string, needs: readonly Requirement[]])[] = [
  ['unit/', ['dependencies']],
  ['infra/', ['dependencies']],
  ['infra/cfn-lint.test.ts', ['cfn-lint']],
  ['api/', ['dependencies']],
  ['api/client/', ['client-generator']],
  // These run a second time in the project `aws-storage`, whose set-up has the image.
  ['api/links/', SANDBOX],
  ['contract/', SANDBOX],
  ['integration/', SANDBOX],
  ['e2e/', SANDBOX],
  ['e2e/client-compat.test.ts', ['client-compat']],
  ['e2e/function-url.test.ts', ['client-compat']],
  ['e2e/n8n.test.ts', ['client-compat']],
  ['e2e/shared-container.test.ts', ['client-compat']],
  ['e2e/ports.test.ts', ['client-compat']],
  ['browser/', [...SANDBOX, 'chromium']],
  ['chaos/', SANDBOX],
  ['gvisor/', SANDBOX],
  ['security/', SANDBOX],
  ['aws/', [...SANDBOX, 'emulator']],
]

/** Options of vitest with a value as the next argument, which names no file. */
const OPTIONS_WITH_VALUE = ['-t', '--testNamePattern']

/**
 * What `npm test -- ARGUMENTS` needs: what the suites of the named files and folders need, or `all` when an argument is anything else, for
 * example a part of a path.
 */
export function testNeeds(args: readonly string[], all: readonly Requirement[], root: string): readonly Requirement[] {
  const filters = args.filter((argument, place) => !argument.startsWith('-') && !OPTIONS_WITH_VALUE.includes(args[place - 1] ?? ''))
  const needs = filters.map((filter) => needsBelow(relative(join(root, 'tests'), resolve(root, filter)), root))
  if (needs.length === 0) return all
  return needs.some((found) => found.length === 0) ? all : all.filter((need) => needs.some((found) => found.includes(need)))
}

/** Empty when there is no such path, or no suite. */
function needsBelow(path: string, root: string): readonly Requirement[] {
  if (!existsSync(join(root, 'tests', path))) return []
  return NEEDS.filter(([prefix]) => prefix.startsWith(path) || `${path}/`.startsWith(prefix)).flatMap(([, needs]) => needs)
}
