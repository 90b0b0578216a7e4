import type { Command } from 'commander'
import { formatTable } from '../format-table.ts'
import { plainText } from '../plain-text.ts'
import type { CommandContext } from '../io.ts'

export function addContainers(program: Command, { io }: CommandContext): void {
  const containers = program.command('containers').description('Lists, creates and deletes containers.')

  containers
    .command('list')
    .description('Lists your containers, newest first.')
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: true }) => {
      const rows = await (await io.api()).list('/v1/containers')
      if (options.json) return io.out(`${JSON.stringify(rows)}\n`)
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
    .option('--json', 'print JSON')
    .action(async (name: string, options: { readonly memory?: string; readonly image?: string; readonly json?: true }) => {
      const made = await (
        await io.api()
      ).call('POST', '/v1/containers', {
        name,
        ...(options.memory === undefined ? {} : { memory_limit: options.memory }),
        ...(options.image === undefined ? {} : { image: options.image }),
      })
      io.out(options.json ? `${JSON.stringify(made)}\n` : `${String(made['id'])}\n`)
    })

  containers
    .command('delete')
    .description('Deletes containers with their files and variables.')
    .argument('<ids...>')
    .action(async (ids: readonly string[]) => {
      const api = await io.api()
      for (const id of ids) {
        await api.call('DELETE', `/v1/containers/${encodeURIComponent(id)}`)
        io.note(`deleted ${id}\n`)
      }
    })
}
