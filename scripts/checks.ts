import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

export interface Check {
  readonly title: string
  /** Arguments of node: a package's program and its own arguments. */
  readonly args: readonly string[]
}

const program = (path: string): string => join(ROOT, 'node_modules', path)

/** The static checks; each is one of `npm test`'s results. */
export const CHECKS = {
  typecheck: { title: 'Types', args: [program('typescript/bin/tsc'), '--project', 'tsconfig.json'] },
  lint: { title: 'Lint', args: [program('oxlint/bin/oxlint'), '--type-aware', '--deny-warnings'] },
  imports: { title: 'Import rules', args: [join(ROOT, 'scripts/import-rules/main.ts')] },
  format: { title: 'Format', args: [program('oxfmt/bin/oxfmt'), '--check'] },
  unused: { title: 'Unused code', args: [program('knip/bin/knip.js'), '--no-progress'] },
  prose: { title: 'Prose', args: [join(ROOT, 'scripts/prose/main.ts')] },
} as const satisfies Record<string, Check>

export type CheckName = keyof typeof CHECKS
export const CHECK_NAMES = Object.keys(CHECKS) as CheckName[]
