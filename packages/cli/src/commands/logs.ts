import type { Command } from 'commander'
import { exitCodeOf, followExecution } from '../follow-execution.ts'
import { withPlainOutput } from '../plain-io.ts'
import { showEvent } from '../show-event.ts'
import type { CommandContext } from '../io.ts'

export function addLogs(program: Command, { io: terminal, exit }: CommandContext): void {
  const io = withPlainOutput(terminal)
  program
    .command('logs')
    .summary('print the output of an execution, from its beginning')
    .description(
      'Prints the recorded events of an execution. With -f it continues until the execution ends; Ctrl-C then cancels the execution.',
    )
    .argument('<execution>')
    .option('-f, --follow', 'continue until the execution ends')
    .option('--json', 'print one event per line as JSON')
    .action(async (id: string, options: { readonly follow?: true; readonly json?: true }) => {
      const api = await io.api()
      if (options.follow && !options.json) {
        await followExecution(api, id, io)
        return exit(exitCodeOf(await api.call('GET', `/v1/executions/${id}`)))
      }
      const now = await api.call('GET', `/v1/executions/${id}`)
      const isOver = now['ended_at'] !== null
      if (!isOver && !options.follow) return io.out(String(now['stdout']))
      for await (const { id: seq, event, data } of api.events(`/v1/executions/${id}/events`)) {
        if (options.json) io.out(`${JSON.stringify({ id: seq, event, data })}\n`)
        else showEvent(event, data, io)
        if (event === 'done') return
      }
    })
}
