import * as z from 'zod'
import { CliError } from '../../packages/cli/src/errors.ts'

const CliEnv = z.object({
  PORT: z.coerce.number().int().min(1).max(65_535).optional(),
  TABLE_NAME: z.string().optional(),
  AWS_REGION: z.string().optional(),
  INIT_CWD: z.string().optional(),
  npm_lifecycle_event: z.string().optional(),
})

export interface CliConfig {
  /** Port of the local server, if several run. */
  readonly port: number | null
  /** A table in AWS; null means that of a local server. */
  readonly tableName: string | null
  readonly region: string | null
  /** Base of relative file names: the folder in which the user called the command. */
  readonly folder: string
}

/** Throws a CliError that names the variable at fault. */
export function readCliConfig(env: Readonly<Record<string, string | undefined>> = process.env): CliConfig {
  const parsed = CliEnv.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')))
  if (!parsed.success) throw new CliError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}.`).join(' '))
  const values = parsed.data
  return {
    port: values.PORT ?? null,
    tableName: values.TABLE_NAME ?? null,
    region: values.AWS_REGION ?? null,
    // `npm run cli` moves to the project's folder and keeps the user's own in INIT_CWD. Every other npm script sets the variable too, for itself.
    folder: (values.npm_lifecycle_event === 'cli' ? values.INIT_CWD : undefined) ?? process.cwd(),
  }
}
