import { apiKeyRow, newApiKey } from '../../services/model/tenants/api-keys.ts'
import { SCOPES, type Scope } from '../../services/model/tenants/tenant.ts'
import { readArguments } from './arguments.ts'
import { CommandError, UsageError, type Command } from './command.ts'

const DAY_MS = 86_400_000
const isScope = (name: string): name is Scope => (SCOPES as readonly string[]).includes(name)

export const keysCreate: Command = {
  usage: 'keys create TENANT [--subject SUBJECT] [--scopes LIST] [--days N] [--name NAME] [--json]',
  summary: 'make another API key; --subject binds it to an end user, --scopes to run,read,files,admin; it expires after --days',
  async run(args, deps) {
    const { values, positionals } = readArguments(args, ['TENANT'], {
      subject: { type: 'string' },
      scopes: { type: 'string' },
      days: { type: 'string' },
      name: { type: 'string' },
      json: { type: 'boolean' },
    })
    const id = positionals[0] ?? ''
    const scopes = values.scopes === undefined ? undefined : readScopes(values.scopes)
    const days = values.days === undefined ? null : readDays(values.days)
    const tenants = await deps.tenants()
    if ((await tenants.get(id)) === null) throw new CommandError(`No tenant ${JSON.stringify(id)} exists: \`tenants list\` shows the ids.`)

    const apiKey = newApiKey()
    const now = deps.clock.now()
    const key = apiKeyRow(
      apiKey,
      {
        tenant: id,
        name: values.name ?? null,
        subject: values.subject ?? null,
        expiresAt: days === null ? null : now + days * DAY_MS,
        ...(scopes !== undefined && { scopes }),
      },
      now,
    )
    await tenants.putKey(key)

    if (values.json)
      deps.out(`${JSON.stringify({ key_id: key.id, tenant: id, subject: key.subject, scopes: key.scopes, api_key: apiKey })}\n`)
    else deps.out(`key id   ${key.id}\nAPI key  ${apiKey}\n\nKeep the API key: only its hash is stored, so it cannot be shown again.\n`)
    return 0
  },
}

function readScopes(list: string): readonly Scope[] {
  const scopes = list.split(',').map((name) => name.trim())
  if (!scopes.every(isScope)) throw new UsageError(`--scopes takes names from ${SCOPES.join(', ')}, separated by commas.`)
  return [...new Set(scopes)]
}

function readDays(text: string): number {
  const days = Number(text)
  if (!Number.isSafeInteger(days) || days < 1 || days > 3_650) throw new UsageError('--days takes a whole number from 1 to 3650.')
  return days
}
