import { InvalidArgumentError, type Command } from 'commander'
import { formatTable } from '../format-table.ts'
import type { CommandContext } from '../io.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'
import { secondsText } from '../progress-bar.ts'

type Row = Readonly<Record<string, unknown>>

const DEFAULT_COUNT = 20

/** Throws InvalidArgumentError. */
function countOf(text: string): number {
  if (/^[1-9]\d?$/.test(text) || text === '100') return Number(text)
  throw new InvalidArgumentError('Give a number from 1 to 100.')
}

export function addRuns(program: Command, { io }: CommandContext): void {
  program
    .command('runs')
    .summary('list executions')
    .description(
      'Lists the newest executions of a container, or of your 50 newest containers. `logs` prints what one of them wrote. A container that was deleted, as `run` does at its end without --keep, has none.',
    )
    .argument('[container]')
    .option('-n, --number <count>', 'how many', countOf, DEFAULT_COUNT)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock runs', 'cellblock runs cntr_… -n 5'))
    .action(async (container: string | undefined, { number, json }: JsonOption & { readonly number: number }) => {
      const api = await io.api()
      const path = container === undefined ? '/v1/executions' : `/v1/containers/${encodeURIComponent(container)}/executions`
      const { data: rows } = (await api.call('GET', `${path}?limit=${number}`)) as { readonly data: readonly Row[] }
      if (json) return printJson(io, rows)
      if (rows.length === 0) return io.note('There is no execution. Run code with `cellblock run --keep FILE`.\n')
      io.out(formatTable(rows.map(lineOf)))
    })
}

function lineOf(row: Row): Readonly<Record<string, string>> {
  const [started, ended] = [Date.parse(String(row['started_at'])), Date.parse(String(row['ended_at']))]
  const seconds = (ended - started) / 1_000
  return {
    id: String(row['id']),
    container: String(row['container_id']),
    language: String(row['language']),
    status: typeof row['reason'] === 'string' ? `${String(row['status'])} (${row['reason']})` : String(row['status']),
    created_at: String(row['created_at']).slice(0, 19),
    time: Number.isNaN(seconds) ? '' : seconds < 10 ? `${seconds.toFixed(1)} s` : secondsText(seconds),
  }
}
