import { hashApiKey, newApiKey } from '../core/tenants/api-keys.ts'
import { newId } from '../core/ids.ts'
import { readArguments } from './arguments.ts'
import { CommandError, type Command } from './command.ts'

export const keysCreate: Command = {
  usage: 'keys create TENANT [--subject SUBJECT] [--json]',
  summary: "make another API key of a tenant; --subject binds it to one of the app's end users",
  async run(args, deps) {
    const { values, positionals } = readArguments(args, ['TENANT'], { subject: { type: 'string' }, json: { type: 'boolean' } })
    const id = positionals[0] ?? ''
    const tenants = await deps.tenants()
    if ((await tenants.get(id)) === null) throw new CommandError(`No tenant ${JSON.stringify(id)} exists: \`tenants list\` shows the ids.`)

    const apiKey = newApiKey()
    const key = {
      v: 1,
      id: newId('key'),
      tenant: id,
      hash: hashApiKey(apiKey),
      subject: values.subject ?? null,
      createdAt: deps.clock.now(),
      revokedAt: null,
    } as const
    await tenants.putKey(key)

    if (values.json) deps.out(`${JSON.stringify({ key_id: key.id, tenant: id, subject: key.subject, api_key: apiKey })}\n`)
    else deps.out(`key id   ${key.id}\nAPI key  ${apiKey}\n\nKeep the API key: only its hash is stored, so it cannot be shown again.\n`)
    return 0
  },
}
