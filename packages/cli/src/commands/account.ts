import type { Command } from 'commander'
import { formatFields } from '../format-table.ts'
import type { CommandContext } from '../io.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'
import { plainText } from '../plain-text.ts'

interface KeyOfCall {
  readonly id: string
  readonly tenant_id: string
  readonly tenant_name: string
  readonly name: string | null
  readonly subject: string | null
  readonly scopes: readonly string[]
  readonly expires_at: string | null
}

export function addAccount(program: Command, { io }: CommandContext): void {
  program
    .command('whoami')
    .summary('show the server, the key and its tenant')
    .description('Prints the server, where the key comes from, its tenant, its scopes and its expiry.')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock whoami'))
    .action(async (options: JsonOption) => {
      const [server, source, api] = await Promise.all([io.url(), io.keySource(), io.api()])
      const key = (await api.call('GET', '/v1/key')) as unknown as KeyOfCall
      if (options.json) return printJson(io, { server, key_source: source, ...key })
      io.out(
        formatFields({
          server,
          key: `${key.id}${key.name === null ? '' : ` "${plainText(key.name)}"`}, from ${source}`,
          tenant: `${key.tenant_id} "${plainText(key.tenant_name)}"`,
          ...(key.subject === null ? {} : { 'end user': plainText(key.subject) }),
          scopes: key.scopes.join(', '),
          expires: key.expires_at ?? 'never',
        }),
      )
    })

  program
    .command('logout')
    .summary('remove the stored key')
    .description('Removes the server and key that `login` stored. The key itself stays valid; an operator revokes it.')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock logout'))
    .action(async (options: JsonOption) => {
      const file = await io.removeLogin()
      if (options.json) return printJson(io, { removed: file })
      io.note(file === null ? 'No key is stored.\n' : `Removed ${file}.\n`)
    })
}
