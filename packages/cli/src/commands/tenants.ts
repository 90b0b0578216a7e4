import type { Command } from 'commander'
import { formatTable } from '../format-table.ts'
import type { CommandContext } from '../io.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'
import { plainText } from '../plain-text.ts'
import { addTenantChange } from './plans.ts'

type Row = Readonly<Record<string, unknown>>
const cell = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  return plainText(typeof value === 'string' ? value : JSON.stringify(value))
}
const pick = (row: Row, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, cell(row[name])]))
const pathOf = (tenant: string): string => `/v1/admin/tenants/${encodeURIComponent(tenant)}`

/** Commands for operators: they need a key with the scope `admin`. */
export function addTenants(program: Command, { io }: CommandContext): void {
  const tenants = program
    .command('tenants')
    .description('Lists, creates, shows, changes and deletes tenants. It needs a key with the scope admin.')

  addTenantChange(tenants, { io })
  tenants
    .command('list')
    .description('Lists all tenants.')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock tenants list'))
    .action(async (options: JsonOption) => {
      const rows = await (await io.api()).list('/v1/admin/tenants')
      if (options.json) return printJson(io, rows)
      io.out(formatTable(rows.map((row) => pick(row, ['id', 'name', 'plan', 'created_at']))))
    })

  tenants
    .command('create')
    .description('Creates a tenant and prints its id.')
    .argument('<name>')
    .option('--plan <name>', 'the plan whose limits apply')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock tenants create acme --plan small'))
    .action(async (name: string, { plan, json }: JsonOption & { readonly plan?: string }) => {
      const made = await (await io.api()).call('POST', '/v1/admin/tenants', { name, ...(plan === undefined ? {} : { plan }) })
      if (json) return printJson(io, made)
      io.out(`${String(made['id'])}\n`)
    })

  tenants
    .command('show')
    .description('Prints a tenant with its limits.')
    .argument('<tenant>')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock tenants show tnt_…'))
    .action(async (tenant: string, options: JsonOption) => {
      const found = await (await io.api()).call('GET', pathOf(tenant))
      if (options.json) return printJson(io, found)
      io.out(formatTable(Object.entries(found).map(([field, value]) => ({ field, value: cell(value) }))))
    })

  tenants
    .command('delete')
    .description('Deletes a tenant with its containers, files and keys.')
    .argument('<tenant>')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock tenants delete tnt_…'))
    .action(async (tenant: string, options: JsonOption) => {
      const answer = await (await io.api()).call('DELETE', pathOf(tenant))
      if (options.json) return printJson(io, answer)
      io.note(`The deletion of ${tenant} has started. \`cellblock tenants show ${tenant}\` reports what remains.\n`)
    })
}

interface CreateKeyOptions extends JsonOption {
  readonly name?: string
  readonly subject?: string
  readonly scopes?: string
  readonly expires?: string
}

export function addKeys(program: Command, { io }: CommandContext): void {
  const keys = program.command('keys').description('Lists, creates and revokes API keys. It needs a key with the scope admin.')

  keys
    .command('list')
    .description('Lists the keys of a tenant.')
    .argument('<tenant>')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock keys list tnt_…'))
    .action(async (tenant: string, options: JsonOption) => {
      const rows = await (await io.api()).list(`${pathOf(tenant)}/keys`)
      if (options.json) return printJson(io, rows)
      if (rows.length === 0) return io.note(`The tenant has no key. Create one with \`cellblock keys create ${tenant}\`.\n`)
      const names = ['id', 'name', 'subject', 'scopes', 'expires_at', 'last_used_at', 'revoked_at']
      io.out(formatTable(rows.map((row) => pick(row, names))))
    })

  keys
    .command('create')
    .description('Creates a key and prints it once.')
    .argument('<tenant>')
    .option('--name <name>', 'a label for lists')
    .option('--subject <user>', 'binds the key to one end user')
    .option('--scopes <scopes>', 'such as run,read,files; these three unless given')
    .option('--expires <time>', 'such as 2027-01-31T00:00:00Z')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock keys create tnt_… --name ci --scopes run,read'))
    .action(async (tenant: string, { name, subject, scopes, expires, json }: CreateKeyOptions) => {
      const made = await (
        await io.api()
      ).call('POST', `${pathOf(tenant)}/keys`, {
        ...(name === undefined ? {} : { name }),
        ...(subject === undefined ? {} : { subject }),
        ...(scopes === undefined ? {} : { scopes: scopes.split(',') }),
        ...(expires === undefined ? {} : { expires_at: expires }),
      })
      if (json) return printJson(io, made)
      io.note(`${String(made['id'])}: the key is shown once.\n`)
      io.out(`${String(made['api_key'])}\n`)
    })

  keys
    .command('revoke')
    .description('Revokes a key; it is refused within five seconds.')
    .argument('<key>', 'the id of the key')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock keys revoke key_…'))
    .action(async (key: string, options: JsonOption) => {
      const answer = await (await io.api()).call('POST', `/v1/admin/keys/${encodeURIComponent(key)}/revoke`)
      if (options.json) return printJson(io, answer)
      io.note(`revoked ${key}\n`)
    })
}
