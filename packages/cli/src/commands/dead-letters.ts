import type { Command } from 'commander'
import { formatTable } from '../format-table.ts'
import type { CommandContext } from '../io.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'

interface DeadLetter {
  readonly id: string
  readonly container_id: string
  readonly ended_at: string
  readonly may_have_run: boolean
  readonly trace_id: string | null
}

const pathOf = (tenant: string): string => `/v1/admin/tenants/${encodeURIComponent(tenant)}/dead_letters`

/** Jobs whose message failed five times. They need a key with the scope `admin`. */
export function addDeadLetters(program: Command, { io }: CommandContext): void {
  const deadLetters = program
    .command('dead-letters')
    .description('Lists jobs that ended as dead letters, and accepts them again. It needs a key with the scope admin.')

  deadLetters
    .command('list')
    .description('Lists executions that ended as dead letters, newest first in each container.')
    .option('--tenant <id>', 'those of one tenant; of all tenants unless given')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock dead-letters list --tenant tnt_…'))
    .action(async (options: JsonOption & { readonly tenant?: string }) => {
      const api = await io.api()
      const tenants = options.tenant === undefined ? (await api.list('/v1/admin/tenants')).map(({ id }) => String(id)) : [options.tenant]
      const rows: Record<string, string>[] = []
      for (const tenant of tenants)
        for (const row of (await api.list(pathOf(tenant))) as unknown as readonly DeadLetter[])
          rows.push({
            tenant,
            execution: row.id,
            container: row.container_id,
            ended_at: row.ended_at,
            may_have_run: row.may_have_run ? 'yes' : 'no',
            trace: row.trace_id ?? '',
          })
      if (options.json) return printJson(io, rows)
      if (rows.length === 0) return io.note('There is no dead letter.\n')
      io.out(formatTable(rows))
    })

  deadLetters
    .command('redrive')
    .description('Accepts an execution or a response that ended as a dead letter again, under a new id.')
    .argument('<tenant>')
    .argument('<id>', 'the id of the execution or of the response')
    .option('--may-have-run', 'also code that was sent to a sandbox: a second run does no harm')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock dead-letters redrive tnt_… exec_…'))
    .action(async (tenant: string, id: string, options: JsonOption & { readonly mayHaveRun?: true }) => {
      const path = `${pathOf(tenant)}/${encodeURIComponent(id)}/redrive`
      const made = await (await io.api()).call('POST', path, { may_have_run: options.mayHaveRun === true })
      if (options.json) return printJson(io, made)
      io.out(`${String(made['id'])}\n`)
    })
}
