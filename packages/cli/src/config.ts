import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CliError, EXIT } from './errors.ts'
import type { Login } from './io.ts'

type Env = Readonly<Record<string, string | undefined>>

export interface Config {
  readonly url: string | null
  readonly apiKey: string | null
  /** Where `login` stores the server and key. */
  readonly loginFile: string
}

/** `CELLBLOCK_URL`, `CELLBLOCK_API_KEY`; an empty variable counts as unset. */
export function readConfig(env: Env = process.env): Config {
  const base = env['XDG_CONFIG_HOME'] || join(homedir(), '.config')
  return {
    url: env['CELLBLOCK_URL']?.replace(/\/+$/, '') || null,
    apiKey: env['CELLBLOCK_API_KEY'] || null,
    loginFile: join(base, 'cellblock', 'login.json'),
  }
}

/** The key of an environment of Claude's managed agents, and the address of Anthropic's API if it is another one. Throws CliError. */
export function readClaudeConfig(env: Env = process.env): { readonly environmentKey: string; readonly baseUrl: string | undefined } {
  const environmentKey = env['ANTHROPIC_ENVIRONMENT_KEY'] ?? ''
  if (environmentKey === '')
    throw new CliError('ANTHROPIC_ENVIRONMENT_KEY is not set. Give it the key of the environment from the Claude Console.', {
      exitCode: EXIT.usage,
    })
  return { environmentKey, baseUrl: env['ANTHROPIC_BASE_URL'] || undefined }
}

/** The settings that `login` stored; null without any. Throws CliError for a file that cannot be read. */
export async function readLogin(file: string): Promise<Login | null> {
  try {
    const { url, api_key: apiKey } = JSON.parse(await readFile(file, 'utf8')) as { readonly url: string; readonly api_key: string }
    return { url, apiKey }
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw new CliError(`${file} cannot be read. Run \`cellblock login\` again.`, { cause })
  }
}

export async function writeLogin(file: string, login: Login): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, `${JSON.stringify({ url: login.url, api_key: login.apiKey })}\n`, { mode: 0o600 })
  // `mode` above applies to a new file only.
  await chmod(file, 0o600)
}

/** Whether there was a file. */
export const removeLogin = (file: string): Promise<boolean> =>
  rm(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw new CliError(`${file} cannot be removed: ${error.message}. Remove it yourself.`, { cause: error })
    },
  )
