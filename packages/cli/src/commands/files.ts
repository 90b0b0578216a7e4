import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { ApiClient } from '../api-client.ts'
import { formatTable } from '../format-table.ts'
import { CliError } from '../errors.ts'
import type { CommandContext } from '../io.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'
import { plainText } from '../plain-text.ts'
import { downloadFile, uploadFile } from '../transfer.ts'

interface ContainerFile {
  readonly id: string
  readonly path: string
  readonly bytes: number
}

const filesOf = async (api: ApiClient, container: string): Promise<readonly ContainerFile[]> =>
  (await api.list(`/v1/containers/${encodeURIComponent(container)}/files`)) as unknown as readonly ContainerFile[]

/** Files by id, by path or by path below /mnt/data. Throws CliError that names the missing files. */
function choose(files: readonly ContainerFile[], wanted: readonly string[]): readonly ContainerFile[] {
  return wanted.map((name) => {
    const found = files.find(({ id, path }) => id === name || path === name || path === `/mnt/data/${name}`)
    if (found === undefined) throw new CliError(`The container has no file "${name}". \`cellblock files list\` shows what it has.`)
    return found
  })
}

export function addFiles(program: Command, { io }: CommandContext): void {
  const files = program.command('files').description('Lists, uploads, downloads and deletes files of a container.')
  addList(files, io)
  addUpload(files, io)
  addDownload(files, io)
  addDelete(files, io)
}

function addList(files: Command, io: CommandContext['io']): void {
  files
    .command('list')
    .description('Lists the files of a container.')
    .argument('<container>')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock files list cntr_…'))
    .action(async (container: string, options: JsonOption) => {
      const rows = await filesOf(await io.api(), container)
      if (options.json) return printJson(io, rows)
      if (rows.length === 0) return io.note('The container has no file.\n')
      io.out(formatTable(rows.map(({ id, path, bytes }) => ({ id, bytes: String(bytes), path: plainText(path) }))))
    })
}

function addUpload(files: Command, io: CommandContext['io']): void {
  files
    .command('upload')
    .description('Copies local files into /mnt/data of a container.')
    .argument('<container>')
    .argument('<files...>')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock files upload cntr_… sales.csv prices.xlsx'))
    .action(async (container: string, paths: readonly string[], options: JsonOption) => {
      const api = await io.api()
      const uploaded: string[] = []
      for (const path of paths) {
        const target = await uploadFile(api, { container, file: path, io })
        uploaded.push(target)
        if (options.json !== true) io.out(`${target}\n`)
      }
      if (options.json) printJson(io, { uploaded })
    })
}

function addDownload(files: Command, io: CommandContext['io']): void {
  files
    .command('download')
    .description('Copies files of a container into a local folder; all of them unless named.')
    .argument('<container>')
    .argument('[files...]', 'ids or paths')
    .option('-o, --out <folder>', 'the local folder', '.')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock files download cntr_… -o results', 'cellblock files download cntr_… plot.png'))
    .action(async (container: string, wanted: readonly string[], options: JsonOption & { readonly out: string }) => {
      const api = await io.api()
      const all = await filesOf(api, container)
      const saved: string[] = []
      for (const file of wanted.length === 0 ? all : choose(all, wanted)) {
        const path = await downloadFile(api, { container, file, folder: resolve(io.folder, options.out) })
        saved.push(path)
        if (options.json !== true) io.out(`${plainText(path)}\n`)
      }
      if (options.json) printJson(io, { saved })
    })
}

function addDelete(files: Command, io: CommandContext['io']): void {
  files
    .command('delete')
    .description('Deletes files of a container.')
    .argument('<container>')
    .argument('<files...>', 'ids or paths')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock files delete cntr_… sales.csv'))
    .action(async (container: string, wanted: readonly string[], options: JsonOption) => {
      const api = await io.api()
      const chosen = choose(await filesOf(api, container), wanted)
      for (const { id, path } of chosen) {
        await api.call('DELETE', `/v1/containers/${encodeURIComponent(container)}/files/${id}`)
        if (options.json !== true) io.note(`deleted ${plainText(path)}\n`)
      }
      if (options.json) printJson(io, { deleted: chosen.map(({ path }) => path) })
    })
}
