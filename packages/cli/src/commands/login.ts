import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { ask } from '../ask.ts'
import { createApiClient, sendWithKey } from '../api-client.ts'
import { CliError, EXIT } from '../errors.ts'
import type { CommandContext } from '../io.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'

export function addLogin(program: Command, { io }: CommandContext): void {
  program
    .command('login')
    .summary('store a server and an API key for later calls')
    .description(
      'Asks for an API key (or reads it from standard input), checks it, and stores it with the address in a file that only you can read.',
    )
    .option('--url <url>', "the server's address")
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      examples('cellblock login --url https://code.example.com', 'printf %s "$KEY" | cellblock login --url http://127.0.0.1:8787'),
    )
    .action(async (options: JsonOption & { readonly url?: string }) => {
      const url = (options.url ?? (await io.url())).replace(/\/+$/, '')
      if (!URL.canParse(url))
        throw new CliError(`"${url}" is not an address. Give one such as https://code.example.com.`, { exitCode: EXIT.usage })
      const apiKey = io.stdin.isTTY ? await ask(io, 'API key: ', true) : (await text(io.stdin)).trim()
      if (apiKey === '') throw new CliError('The API key is empty. `npm start` prints one for the local server.', { exitCode: EXIT.usage })
      await createApiClient(sendWithKey(url, apiKey)).call('GET', '/v1/limits')
      const file = await io.saveLogin({ url, apiKey })
      if (options.json) return printJson(io, { url, file })
      io.note(`The key works at ${url}. Stored in ${file}.\n`)
    })
}
