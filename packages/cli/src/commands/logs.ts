import type { Command } from 'commander'
import type { ApiClient } from '../api-client.ts'
import { EXIT } from '../errors.ts'
import { eventsOf, exitCodeOf } from '../follow-execution.ts'
import type { CommandContext, Io } from '../io.ts'
import { examples, printJson, type JsonOption } from '../json-output.ts'
import { withPlainOutput } from '../plain-io.ts'
import { showEvent } from '../show-event.ts'

interface LogsOptions extends JsonOption {
  readonly follow?: true
}

export function addLogs(program: Command, { io: terminal, exit }: CommandContext): void {
  const io = withPlainOutput(terminal)
  program
    .command('logs')
    .summary('print the output of an execution, from its beginning')
    .description(
      'Prints the recorded events of an execution. With -f it continues until the execution ends, and the exit code is that of the code. Ctrl-C stops the reading; the code continues.',
    )
    .argument('<execution>')
    .option('-f, --follow', 'continue until the execution ends')
    .option('--json', 'print one event per line as JSON; without -f, an execution that still runs is one line')
    .addHelpText('after', examples('cellblock logs exec_…', 'cellblock logs -f exec_…'))
    .action(async (id: string, options: LogsOptions) => exit(await printLogs({ api: await io.api(), io }, id, options)))
}

async function printLogs({ api, io }: { readonly api: ApiClient; readonly io: Io }, id: string, options: LogsOptions): Promise<number> {
  const path = `/v1/executions/${encodeURIComponent(id)}`
  const now = await api.call('GET', path)
  if (now['ended_at'] === null && options.follow !== true) {
    if (options.json) printJson(io, now)
    else io.out(String(now['stdout']))
    return EXIT.ok
  }
  for await (const { id: seq, event, data } of eventsOf(api, encodeURIComponent(id), io.signal))
    if (options.json) printJson(io, { id: seq, event, data })
    else showEvent(event, data, io)
  if (io.signal.aborted) return EXIT.cancelled
  return options.follow === true ? exitCodeOf(await api.call('GET', path)) : EXIT.ok
}
