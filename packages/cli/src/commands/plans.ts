import type { Command } from 'commander'
import { formatTable } from '../format-table.ts'
import type { CommandContext } from '../io.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'
import { plainText } from '../plain-text.ts'
import { addLimit, type Limits } from './tenant-settings.ts'

const planPath = (name: string): string => `/v1/admin/plans/${encodeURIComponent(name)}`
const tenantPath = (tenant: string): string => `/v1/admin/tenants/${encodeURIComponent(tenant)}`

/** Plans are named sets of limits. They need a key with the scope `admin`. */
export function addPlans(program: Command, { io }: CommandContext): void {
  const plans = program
    .command('plans')
    .description('Lists, sets and deletes plans: named sets of limits. It needs a key with the scope admin.')

  plans
    .command('list')
    .description('Lists plans with their limits.')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock plans list'))
    .action(async (options: JsonOption) => {
      const rows = await (await io.api()).list('/v1/admin/plans')
      if (options.json) return printJson(io, rows)
      io.out(formatTable(rows.map(({ id, limits }) => ({ id: plainText(String(id)), limits: limitsText(limits as Limits) }))))
    })

  plans
    .command('set')
    .description('Creates or replaces a plan. Its tenants get the limits within ten seconds.')
    .argument('<name>', 'lower-case letters, digits and hyphens')
    .argument('[limits...]', 'NAME=VALUE; limits that the plan does not name have the default', addLimit, {})
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock plans set team live_containers=20 dollars_per_day=5'))
    .action(async (name: string, limits: Limits, options: JsonOption) => {
      const plan = await (await io.api()).call('PUT', planPath(name), { limits })
      if (options.json) return printJson(io, plan)
      io.note(`set ${name}: ${limitsText(plan['limits'] as Limits)}\n`)
    })

  plans
    .command('delete')
    .description('Deletes a plan. Its tenants keep their individual limits; the others return to the default.')
    .argument('<name>')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock plans delete team'))
    .action(async (name: string, options: JsonOption) => {
      const answer = await (await io.api()).call('DELETE', planPath(name))
      if (options.json) return printJson(io, answer)
      io.note(`deleted ${name}\n`)
    })
}

interface ChangeOptions extends JsonOption {
  readonly name?: string
  readonly plan?: string
}

export function addTenantChange(tenants: Command, { io }: Pick<CommandContext, 'io'>): void {
  tenants
    .command('change')
    .description('Changes the name, the plan or limits of a tenant.')
    .argument('<tenant>')
    .argument('[limits...]', 'NAME=VALUE; NAME=default removes a limit of the tenant', addLimit, {})
    .option('--name <name>')
    .option('--plan <name>', 'the plan whose limits apply; none removes it')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock tenants change tnt_… --plan team storage_bytes=10737418240'))
    .action(async (tenant: string, limits: Limits, { name, plan, json }: ChangeOptions) => {
      const changed = await (
        await io.api()
      ).call('POST', tenantPath(tenant), {
        ...(name === undefined ? {} : { name }),
        ...(plan === undefined ? {} : { plan: plan === 'none' ? null : plan }),
        ...(Object.keys(limits).length === 0 ? {} : { limits }),
      })
      if (json) return printJson(io, changed)
      io.note(`changed ${tenant}\n`)
    })
}

const limitsText = (limits: Limits): string =>
  plainText(
    Object.entries(limits)
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
  )
