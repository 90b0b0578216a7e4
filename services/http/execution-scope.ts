import * as z from 'zod'
import { boundedRecord } from '../model/bounded-schemas.ts'
import { lazySchema } from '../model/lazy-schema.ts'
import type { ExecutionScope } from '../model/executions/execution.ts'
import { LIMITS } from '../model/limits.ts'
import { wholeCharacters } from './schemas.ts'

const MAX_VARIABLES = 100

/** Text that an operating system takes as an argument, a variable or a path. */
export const osText = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[^\0]*$/, 'give text without null characters')
    .refine(...wholeCharacters)

/** One argument of a program. Running the command checks its size, because the script of a shell may be larger than other arguments. */
export const commandArgument = lazySchema(() => osText(LIMITS.maxArgumentsBytes))

/** Environment variables of a run, by name. */
export const environment = lazySchema(() =>
  boundedRecord(osText(255).regex(/^[^=]+$/, 'name variables without =, at most 255 characters'), osText(32_768), MAX_VARIABLES),
)

/** Request fields `env` and `cwd`, of code and of commands. */
export const scopeFields = lazySchema(() => ({
  env: environment()
    .nullish()
    .openapi({ type: 'object', additionalProperties: { type: 'string' }, description: 'Environment variables, for this run only.' }),
  cwd: osText(LIMITS.maxPathBytes)
    .min(1)
    .nullish()
    .openapi({ description: 'Folder to run in, relative to `/mnt/data` or absolute; for this run only.' }),
}))

interface ScopeFields {
  readonly env?: Readonly<Record<string, string>> | null | undefined
  readonly cwd?: string | null | undefined
}

/** Undefined when the request has neither. */
export function scopeOf({ env, cwd }: ScopeFields): ExecutionScope | undefined {
  const hasEnv = env !== null && env !== undefined && Object.keys(env).length > 0
  const hasCwd = cwd !== null && cwd !== undefined
  return hasEnv || hasCwd ? { ...(hasEnv && { env }), ...(hasCwd && { cwd }) } : undefined
}
