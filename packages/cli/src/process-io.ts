import { createApiClient, sendWithKey, type Send } from './api-client.ts'
import { readConfig, readLogin, removeLogin, writeLogin } from './config.ts'
import { CliError, EXIT } from './errors.ts'
import type { Io } from './io.ts'

/**
 * Connects the program to this process. `localUrl` finds the local server when neither the environment nor `login` names a server. `folder` is the
 * base of relative file names. `administer` sends the calls of administration without a key, where there is another way to the server.
 */
export function createProcessIo(localUrl: () => Promise<string>, folder: string, administer: Send | null = null): Io {
  const config = readConfig()
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  // A reader such as `head` may close the pipe early.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.codeFailed))
  const url = async (): Promise<string> => config.url ?? (await readLogin(config.loginFile))?.url ?? localUrl()
  const apiKey = async (): Promise<{ readonly key: string; readonly source: string }> => {
    if (config.apiKey !== null) return { key: config.apiKey, source: 'CELLBLOCK_API_KEY' }
    const key = (await readLogin(config.loginFile))?.apiKey
    if (key === undefined)
      throw new CliError(
        'No API key is known. Write CELLBLOCK_API_KEY=ck_… before the command, or store the key with the command `login`. `npm start` prints a key.',
      )
    return { key, source: config.loginFile }
  }
  return {
    folder,
    signal: stop.signal,
    stdin: process.stdin,
    isTerminal: process.stderr.isTTY,
    out: (text) => process.stdout.write(text),
    note: (text) => process.stderr.write(text),
    url,
    api: async () =>
      createApiClient(async (path, init) =>
        administer !== null && path.startsWith('/v1/admin/')
          ? administer(path, init)
          : sendWithKey(await url(), (await apiKey()).key)(path, init),
      ),
    keySource: async () => (await apiKey()).source,
    removeLogin: async () => ((await removeLogin(config.loginFile)) ? config.loginFile : null),
    async saveLogin(login) {
      await writeLogin(config.loginFile, login)
      return config.loginFile
    },
  }
}
