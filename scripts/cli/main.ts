// The command line for operators. Run it with `npm run cli -- COMMAND`.
import { join } from 'node:path'
import { systemClock } from '../../services/ports/clock.ts'
import { createProcessIo } from '../../packages/cli/src/process-io.ts'
import { listCommands, runProgram } from '../../packages/cli/src/program.ts'
import { CommandError, type CliDeps } from './command.ts'
import { readCliConfig, type CliConfig } from './config.ts'
import { chooseLocalServer, listLocalServers } from './local-servers.ts'
import { openState, type State } from './open-state.ts'
import { NO_QUEUE } from './rows-only.ts'
import { isCommand, runCommand } from './run-command.ts'
import { takeOption } from './take-option.ts'

const NOTES = join(import.meta.dirname, '../../.cellblock/servers')

try {
  process.exitCode = await start()
} catch (error) {
  process.stderr.write(`${error instanceof CommandError ? error.message : `The command failed: ${String(error)}`}\n`)
  process.exitCode = 1
}

async function start(): Promise<number> {
  const { value: tableOption, rest: withoutTable } = takeOption(process.argv.slice(2), 'table')
  const { value: dataOption, rest } = takeOption(withoutTable, 'data')
  const config = readCliConfig()
  const io = createProcessIo(() => localUrl(config), config.folder)
  const programCommands = listCommands(io)
  // `tenants` and `keys` are commands of both: here they reach the server without a key.
  if (!isCommand(rest) && programCommands.some(({ name }) => name === rest[0])) return runProgram(rest, io)
  let opened: Promise<State> | null = null
  const state = (): Promise<State> =>
    (opened ??= listLocalServers(NOTES).then((servers) =>
      openState({ ...config, tableName: tableOption ?? config.tableName, dataDir: dataOption }, servers),
    ))
  const deps: CliDeps = {
    tenants: async () => (await state()).table.tenants,
    table: async () => (await state()).table,
    backUp: async (folder) => (await state()).backUp(folder),
    queue: NO_QUEUE,
    clock: systemClock,
    folder: config.folder,
    programCommands,
    out: (text) => process.stdout.write(text),
    note: (text) => process.stderr.write(text),
  }
  try {
    return await runCommand(rest, deps)
  } finally {
    await (opened as Promise<State> | null)?.then(
      (held) => held.close(),
      () => undefined,
    )
  }
}

async function localUrl({ port }: CliConfig): Promise<string> {
  const servers = await listLocalServers(NOTES)
  return servers.length === 0 ? `http://127.0.0.1:${port ?? 8787}` : chooseLocalServer(servers, port).url
}
