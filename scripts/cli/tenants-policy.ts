import { LIMITS } from '../../services/model/limits.ts'
import { LINK_DAYS, type TenantPolicy } from '../../services/model/tenants/tenant.ts'
import { readArguments } from './arguments.ts'
import { CommandError, UsageError, type Command } from './command.ts'

/** Without options it prints the policy. Running responses keep the policy of their acceptance. */
export const tenantsPolicy: Command = {
  usage: 'tenants policy TENANT [--tool-off TYPE] [--tool-on TYPE] [--link-days N] [--json]',
  summary: 'show or change what a tenant may do: tools that are off, life of links',
  async run(args, deps) {
    const { values, positionals } = readArguments(args, ['TENANT'], {
      'tool-off': { type: 'string', multiple: true },
      'tool-on': { type: 'string', multiple: true },
      'link-days': { type: 'string' },
      json: { type: 'boolean' },
    })
    const linkDays = values['link-days'] === undefined ? undefined : readDays(values['link-days'])
    const id = positionals[0] ?? ''
    const tenants = await deps.tenants()
    const tenant = await tenants.get(id)
    if (tenant === null) throw new CommandError(`No tenant ${JSON.stringify(id)} exists: \`tenants list\` shows the ids.`)

    const before = tenant.policy ?? {}
    const on = values['tool-on'] ?? []
    const toolsOff = [...new Set([...(before.toolsOff ?? []), ...(values['tool-off'] ?? [])])]
      .filter((type) => !on.includes(type))
      .toSorted()
    const policy: TenantPolicy = { ...before, toolsOff, ...(linkDays === undefined ? {} : { linkDays }) }
    if (JSON.stringify(policy) !== JSON.stringify(before)) await tenants.setPolicy(id, policy)

    const days = policy.linkDays ?? LIMITS.linkDays
    if (values.json) deps.out(`${JSON.stringify({ tenant: id, tools_off: toolsOff, link_days: days })}\n`)
    else deps.out(`tenant     ${id}  ${tenant.name}\ntools off  ${toolsOff.join(', ') || 'none'}\nlink days  ${days}\n`)
    return 0
  },
}

function readDays(text: string): number {
  const days = Number(text)
  if (!Number.isInteger(days) || days < LINK_DAYS.min || days > LINK_DAYS.max)
    throw new UsageError(`--link-days takes a whole number from ${LINK_DAYS.min} to ${LINK_DAYS.max}.`)
  return days
}
