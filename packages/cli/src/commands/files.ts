import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { ApiClient } from '../api-client.ts'
import { formatTable } from '../format-table.ts'
import { CliError } from '../errors.ts'
import type { CommandContext } from '../io.ts'
import { plainText } from '../plain-text.ts'
import { downloadFile, uploadFile } from '../transfer.ts'

interface ContainerFile {
  readonly id: string
  readonly path: string
  readonly bytes: number
}

const filesOf = async (api: ApiClient, container: string): Promise<readonly ContainerFile[]> =>
  (await api.list(`/v1/containers/${encodeURIComponent(container)}/files`)) as unknown as readonly ContainerFile[]

/** Files by id, by path or by path below /mnt/data. Throws CliError that names what is not there. */
function choose(files: readonly ContainerFile[], wanted: readonly string[]): readonly ContainerFile[] {
  return wanted.map((name) => {
    const found = files.find(({ id, path }) => id === name || path === name || path === `/mnt/data/${name}`)
    if (found === undefined) throw new CliError(`The container has no file "${name}". \`cellblock files list\` shows what it has.`)
    return found
  })
}

export function addFiles(program: Command, { io }: CommandContext): void {
  const files = program.command('files').description('Lists, uploads, downloads and deletes files of a container.')

  files
    .command('list')
    .description('Lists the files of a container.')
    .argument('<container>')
    .option('--json', 'print JSON')
    .action(async (container: string, options: { readonly json?: true }) => {
      const rows = await filesOf(await io.api(), container)
      if (options.json) return io.out(`${JSON.stringify(rows)}\n`)
      if (rows.length === 0) return io.note('The container has no file.\n')
      io.out(formatTable(rows.map(({ id, path, bytes }) => ({ id, bytes: String(bytes), path: plainText(path) }))))
    })

  files
    .command('upload')
    .description('Copies local files into /mnt/data of a container.')
    .argument('<container>')
    .argument('<files...>')
    .action(async (container: string, paths: readonly string[]) => {
      const api = await io.api()
      for (const path of paths) io.out(`${await uploadFile(api, container, path, io)}\n`)
    })

  files
    .command('download')
    .description('Copies files of a container into a local folder; all of them unless named.')
    .argument('<container>')
    .argument('[files...]', 'ids or paths')
    .option('-o, --out <folder>', 'the local folder', '.')
    .action(async (container: string, wanted: readonly string[], options: { readonly out: string }) => {
      const api = await io.api()
      const all = await filesOf(api, container)
      for (const file of wanted.length === 0 ? all : choose(all, wanted))
        io.out(`${plainText(await downloadFile(api, container, file, resolve(io.folder, options.out)))}\n`)
    })

  files
    .command('delete')
    .description('Deletes files of a container.')
    .argument('<container>')
    .argument('<files...>', 'ids or paths')
    .action(async (container: string, wanted: readonly string[]) => {
      const api = await io.api()
      for (const { id, path } of choose(await filesOf(api, container), wanted)) {
        await api.call('DELETE', `/v1/containers/${encodeURIComponent(container)}/files/${id}`)
        io.note(`deleted ${plainText(path)}\n`)
      }
    })
}
