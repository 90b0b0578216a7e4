// The `cellblock` program with commands for operators. Run it with `npm run cli -- COMMAND`.
import { join } from 'node:path'
import { CliError } from '../../packages/cli/src/errors.ts'
import { createProcessIo } from '../../packages/cli/src/process-io.ts'
import { runProgram, type AddCommand } from '../../packages/cli/src/program.ts'
import { openAdministration, type Administration } from './administration.ts'
import { addAudit } from './audit.ts'
import { addBackup } from './backup.ts'
import { readCliConfig, type CliConfig } from './config.ts'
import { chooseLocalServer, listLocalServers } from './local-servers.ts'
import { takeOption } from './take-option.ts'

const NOTES = join(import.meta.dirname, '../../.cellblock/servers')
const PLACES = `
Administration (tenants, keys, plans, dead-letters, audit, backup, usage --tenant) needs no key here:
  it reaches the running local server through its control socket. PORT chooses one of several.
  --data DIR    works on a data folder, also when no server runs on it
  --table NAME  works on a table in AWS, with the SDK's default credentials; also TABLE_NAME
`

try {
  process.exitCode = await start()
} catch (error) {
  process.stderr.write(`${error instanceof CliError ? error.message : `The command failed: ${String(error)}`}\n`)
  process.exitCode = error instanceof CliError ? error.exitCode : 1
}

async function start(): Promise<number> {
  const { value: tableOption, rest: withoutTable } = takeOption(process.argv.slice(2), 'table')
  const { value: dataOption, rest } = takeOption(withoutTable, 'data')
  const config = readCliConfig()
  let opened: Promise<Administration> | null = null
  const administration = (): Promise<Administration> =>
    (opened ??= listLocalServers(NOTES).then((servers) =>
      openAdministration({ ...config, tableName: tableOption ?? config.tableName, dataDir: dataOption }, servers),
    ))
  const io = createProcessIo(
    () => localUrl(config),
    config.folder,
    async (path, init) => (await administration()).send(path, init),
  )
  const addPlaces: AddCommand = (program) => void program.addHelpText('after', PLACES)
  const backup = addBackup(async (folder) => (await administration()).backUp(folder))
  try {
    return await runProgram(rest, io, [addAudit, backup, addPlaces])
  } finally {
    await (opened as Promise<Administration> | null)?.then(
      (held) => held.close(),
      () => undefined,
    )
  }
}

async function localUrl({ port }: CliConfig): Promise<string> {
  const servers = await listLocalServers(NOTES)
  return servers.length === 0 ? `http://127.0.0.1:${port ?? 8787}` : chooseLocalServer(servers, port).url
}
