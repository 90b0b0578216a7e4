import { apiKeyRow, newApiKey } from '../../services/model/tenants/api-keys.ts'
import { newId } from '../../services/model/ids.ts'
import { readArguments } from './arguments.ts'
import { UsageError, type Command } from './command.ts'

const MAX_NAME_LENGTH = 100

/** Two tenants may have the same name; their ids differ. */
export const tenantsCreate: Command = {
  usage: 'tenants create NAME [--json]',
  summary: 'make a tenant and its first API key, which is shown this once',
  async run(args, deps) {
    const { values, positionals } = readArguments(args, ['NAME'], { json: { type: 'boolean' } })
    const name = positionals[0]?.trim() ?? ''
    if (name === '' || name.length > MAX_NAME_LENGTH) throw new UsageError(`NAME must have 1 to ${MAX_NAME_LENGTH} characters.`)

    const tenants = await deps.tenants()
    const now = deps.clock.now()
    const tenant = { v: 1, id: newId('tenant'), name, createdAt: now } as const
    const apiKey = newApiKey()
    const key = apiKeyRow(apiKey, { tenant: tenant.id }, now)
    await tenants.create(tenant)
    await tenants.putKey(key)

    if (values.json) deps.out(`${JSON.stringify({ tenant: tenant.id, name, key_id: key.id, api_key: apiKey })}\n`)
    else
      deps.out(
        `tenant   ${tenant.id}  ${name}\nkey id   ${key.id}\nAPI key  ${apiKey}\n\nKeep the API key: only its hash is stored, so it cannot be shown again.\n`,
      )
    return 0
  },
}
