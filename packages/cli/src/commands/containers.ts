import type { Command } from 'commander'
import { formatTable } from '../format-table.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'
import { plainText } from '../plain-text.ts'
import type { CommandContext } from '../io.ts'

interface CreateOptions extends JsonOption {
  readonly memory?: string
  readonly image?: string
}

export function addContainers(program: Command, { io }: CommandContext): void {
  const containers = program.command('containers').description('Lists, creates and deletes containers.')

  containers
    .command('list')
    .description('Lists your containers, newest first.')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock containers list'))
    .action(async (options: JsonOption) => {
      const rows = await (await io.api()).list('/v1/containers')
      if (options.json) return printJson(io, rows)
      if (rows.length === 0) return io.note('There is no container. Create one with `cellblock containers create`.\n')
      io.out(
        formatTable(
          rows.map((row) => ({
            id: String(row['id']),
            name: plainText(String(row['name'])),
            status: String(row['status']),
            memory: String(row['memory_limit']),
            last_active_at: new Date(Number(row['last_active_at']) * 1000).toISOString(),
          })),
        ),
      )
    })

  containers
    .command('create')
    .description('Creates a container and prints its id.')
    .argument('[name]', 'a name for lists', 'cli')
    .option('--memory <size>', 'such as 1g or 4g')
    .option('--image <name>', 'such as slim, standard or full')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock containers create sales --memory 4g --image standard'))
    .action(async (name: string, { memory, image, json }: CreateOptions) => {
      const body = { name, ...(memory === undefined ? {} : { memory_limit: memory }), ...(image === undefined ? {} : { image }) }
      const made = await (await io.api()).call('POST', '/v1/containers', body)
      if (json) return printJson(io, made)
      io.out(`${String(made['id'])}\n`)
    })

  containers
    .command('delete')
    .description('Deletes containers with their files and variables.')
    .argument('<ids...>')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock containers delete cntr_…'))
    .action(async (ids: readonly string[], options: JsonOption) => {
      const api = await io.api()
      for (const id of ids) {
        await api.call('DELETE', `/v1/containers/${encodeURIComponent(id)}`)
        if (options.json !== true) io.note(`deleted ${id}\n`)
      }
      if (options.json) printJson(io, { deleted: ids })
    })
}
