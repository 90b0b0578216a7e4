import { InvalidArgumentError, Option, type Command } from 'commander'
import { ask } from '../ask.ts'
import { CliError, EXIT } from '../errors.ts'
import { formatTable } from '../format-table.ts'
import type { CommandContext } from '../io.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'
import { plainText } from '../plain-text.ts'
import { addTenantChange } from './plans.ts'
import { addTenantLimits, addTenantNetwork, addTenantPolicy } from './tenant-settings.ts'

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

  addTenantCreation(tenants, { io })
  addTenantChange(tenants, { io })
  addTenantLimits(tenants, { io })
  addTenantPolicy(tenants, { io })
  addTenantNetwork(tenants, { io })
  tenants
    .command('list')
    .description('Lists all tenants.')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock tenants list'))
    .action(async (options: JsonOption) => {
      const rows = await (await io.api()).list('/v1/admin/tenants')
      if (options.json) return printJson(io, rows)
      if (rows.length === 0) return io.note('There is no tenant. Create one with `tenants create NAME`.\n')
      io.out(formatTable(rows.map((row) => pick(row, ['id', 'name', 'plan', 'created_at']))))
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
    .option('--yes', 'do not ask in a terminal')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock tenants delete tnt_…'))
    .action(async (tenant: string, options: JsonOption & { readonly yes?: true }) => {
      const api = await io.api()
      if (io.stdin.isTTY && options.yes !== true) await confirmDeletion(io, await api.call('GET', pathOf(tenant)))
      const answer = await api.call('DELETE', pathOf(tenant))
      if (options.json) return printJson(io, answer)
      io.note(`The deletion of ${tenant} has started. \`cellblock tenants show ${tenant}\` reports what remains.\n`)
    })
}

/** Throws CliError unless the person writes the tenant's name. */
async function confirmDeletion(io: CommandContext['io'], tenant: Row): Promise<void> {
  const name = plainText(String(tenant['name']))
  const answer = await ask(
    io,
    `This deletes every container, file and key of ${name} (${String(tenant['id'])}). Type its name to confirm: `,
  )
  if (answer !== name) throw new CliError('The name is not the same. Nothing was deleted.', { exitCode: EXIT.cancelled })
}

function addTenantCreation(tenants: Command, { io }: Pick<CommandContext, 'io'>): void {
  tenants
    .command('create')
    .description('Creates a tenant and its first API key, which is shown once.')
    .argument('<name>')
    .option('--plan <name>', 'the plan whose limits apply')
    .option('--no-key', 'create no key')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock tenants create acme --plan small'))
    .action(async (name: string, { plan, key, json }: JsonOption & { readonly plan?: string; readonly key: boolean }) => {
      const api = await io.api()
      const made = await api.call('POST', '/v1/admin/tenants', { name, ...(plan === undefined ? {} : { plan }) })
      const id = String(made['id'])
      const first = key ? await api.call('POST', `${pathOf(id)}/keys`, {}) : null
      if (json) return printJson(io, first === null ? made : { ...made, key_id: first['id'], api_key: first['api_key'] })
      if (first === null) return io.out(`${id}\n`)
      io.out(`tenant   ${id}\nkey id   ${String(first['id'])}\nAPI key  ${String(first['api_key'])}\n`)
      io.note('Keep the API key: only its hash is stored, so it cannot be shown again.\n')
    })
}

interface CreateKeyOptions extends JsonOption {
  readonly name?: string
  readonly subject?: string
  readonly scopes?: string
  readonly expires?: string
  readonly days?: number
  readonly e2b?: true
}

/** E2B's prefix and the hexadecimal digits of the key; the E2B wire accepts both forms. */
const e2bForm = (key: string): string => `e2b_${Buffer.from(key).toString('hex')}`

const DAY_MS = 86_400_000

/** Throws InvalidArgumentError. */
function wholeDays(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number of days.')
}

const expiryOf = ({ expires, days }: CreateKeyOptions): { readonly expires_at?: string } => {
  const time = days === undefined ? expires : new Date(Date.now() + days * DAY_MS).toISOString()
  return time === undefined ? {} : { expires_at: time }
}

export function addKeys(program: Command, { io }: CommandContext): void {
  const keys = program.command('keys').description('Lists, creates and revokes API keys. It needs a key with the scope admin.')

  keys
    .command('list')
    .description('Lists the keys of a tenant, or of all tenants. The keys themselves are not stored.')
    .argument('[tenant]')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock keys list tnt_…'))
    .action(async (tenant: string | undefined, options: JsonOption) => {
      const rows = await (await io.api()).list(tenant === undefined ? '/v1/admin/keys' : `${pathOf(tenant)}/keys`)
      if (options.json) return printJson(io, rows)
      if (rows.length === 0) return io.note(`There is no key. Create one with \`keys create ${tenant ?? 'TENANT'}\`.\n`)
      const owner = tenant === undefined ? ['tenant_id'] : []
      const names = ['id', ...owner, 'name', 'subject', 'scopes', 'created_at', 'expires_at', 'last_used_at', 'revoked_at']
      io.out(formatTable(rows.map((row) => pick(row, names))))
    })

  keys
    .command('create')
    .description('Creates a key and prints it once.')
    .argument('<tenant>')
    .option('--name <name>', 'a label for lists')
    .option('--subject <user>', 'binds the key to one end user')
    .option('--scopes <scopes>', 'some of run,read,files,share,secrets,admin; the first four unless given')
    .addOption(new Option('--expires <time>', 'such as 2027-01-31T00:00:00Z').conflicts('days'))
    .option('--days <days>', 'expires after so many days', wholeDays)
    .option('--e2b', "print the key in the form of E2B's keys, for clients that accept no other")
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock keys create tnt_… --name ci --scopes run,read'))
    .action(async (tenant: string, options: CreateKeyOptions) => {
      const { name, subject, scopes, json } = options
      const made = await (
        await io.api()
      ).call('POST', `${pathOf(tenant)}/keys`, {
        ...(name === undefined ? {} : { name }),
        ...(subject === undefined ? {} : { subject }),
        ...(scopes === undefined ? {} : { scopes: scopes.split(',').map((scope) => scope.trim()) }),
        ...expiryOf(options),
      })
      const key = options.e2b ? e2bForm(String(made['api_key'])) : made['api_key']
      if (json) return printJson(io, { ...made, api_key: key })
      io.note(`${String(made['id'])}: the key is shown once.\n`)
      io.out(`${String(key)}\n`)
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
      io.out(`${key} of ${String(answer['tenant_id'])} is revoked since ${String(answer['revoked_at'])}\n`)
    })
}
