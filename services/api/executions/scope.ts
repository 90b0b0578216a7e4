import { z } from '@hono/zod-openapi'
import type { ExecutionScope } from '../../core/executions/execution.ts'
import { LIMITS } from '../../core/limits.ts'
import { atMost } from '../http/schemas.ts'

const MAX_VARIABLES = 100
const NO_NULL = /^[^\0]*$/

/** Request fields `env` and `cwd`, of code and of commands. */
export const scopeFields = {
  env: atMost(
    MAX_VARIABLES,
    z.record(
      z.string().regex(/^[^\0=]{1,255}$/, 'name variables without =, at most 255 characters'),
      z.string().max(32_768).regex(NO_NULL, 'give text without null characters'),
    ),
  )
    .nullish()
    .openapi({ type: 'object', additionalProperties: { type: 'string' }, description: 'Environment variables, for this run only.' }),
  cwd: z
    .string()
    .min(1)
    .max(LIMITS.maxPathBytes)
    .regex(NO_NULL, 'give a path without null characters')
    .nullish()
    .openapi({ description: 'Folder to run in, relative to `/mnt/data` or absolute; for this run only.' }),
}

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
