import { HOME, sandboxPath } from '../../operations/files/sandbox-path.ts'
import type { Session } from './session.ts'

interface Given {
  readonly env?: Readonly<Record<string, string>> | null | undefined
  readonly cwd?: string | null | undefined
}

/**
 * The environment of code and commands of this wire: the folder that outlives the sandbox is their home, by the name that E2B has for it. A program
 * learns its folder by that name from `PWD`.
 */
export function scopeOf(
  { env: ofSandbox }: Session,
  { env, cwd }: Given,
): { readonly env: Readonly<Record<string, string>>; readonly cwd: string } {
  const { shown } = sandboxPath(cwd === undefined || cwd === null || cwd === '' ? HOME : cwd)
  return { env: { HOME, PWD: shown, ...ofSandbox, ...env }, cwd: shown }
}
