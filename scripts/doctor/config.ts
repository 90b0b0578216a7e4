import { readSetupConfig, type SetupConfig } from '../setup/config.ts'

export interface DoctorConfig {
  readonly setup: SetupConfig
  readonly host: string
  readonly port: number
  /** Address and key of a deployed service, for the programs that run through it. */
  readonly url: string | null
  readonly apiKey: string | null
}

/** Throws an Error that names the variable at fault. */
export function readDoctorConfig(env: NodeJS.ProcessEnv = process.env): DoctorConfig {
  const port = Number(env['PORT'] || 8787)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`PORT must be a number from 0 to 65535, not "${env['PORT']}".`)
  return {
    setup: readSetupConfig(env),
    host: env['HOST'] || '127.0.0.1',
    port,
    url: env['CELLBLOCK_URL']?.replace(/\/+$/, '') || null,
    apiKey: env['CELLBLOCK_API_KEY'] || null,
  }
}
