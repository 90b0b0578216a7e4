import { createApiClient } from './api-client.ts'
import { readConfig, readLogin, writeLogin } from './config.ts'
import { CliError, EXIT } from './errors.ts'
import type { Io } from './io.ts'

/**
 * Connects the program to this process. `localUrl` finds the local server when neither the environment nor `login` names a server. `folder` is the
 * base of relative file names.
 */
export function createProcessIo(localUrl: () => Promise<string>, folder: string): Io {
  const config = readConfig()
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  // A reader such as `head` may close the pipe early.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.codeFailed))
  const url = async (): Promise<string> => config.url ?? (await readLogin(config.loginFile))?.url ?? localUrl()
  return {
    folder,
    signal: stop.signal,
    stdin: process.stdin,
    isTerminal: process.stderr.isTTY,
    out: (text) => process.stdout.write(text),
    note: (text) => process.stderr.write(text),
    url,
    async api() {
      const apiKey = config.apiKey ?? (await readLogin(config.loginFile))?.apiKey
      if (apiKey === undefined)
        throw new CliError('No API key is known. Set CELLBLOCK_API_KEY, or store a key with the command `login`. `npm start` prints a key.')
      return createApiClient(await url(), apiKey)
    },
    async saveLogin(login) {
      await writeLogin(config.loginFile, login)
      return config.loginFile
    },
  }
}
