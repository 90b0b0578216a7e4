import { InvalidArgumentError, type Command } from 'commander'
import type { ApiClient } from '../api-client.ts'
import { formatTable } from '../format-table.ts'
import type { CommandContext } from '../io.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'
import { secondsText } from '../progress-bar.ts'

type Row = Readonly<Record<string, unknown>>

/** Containers whose executions are read when none is named. */
const MAX_CONTAINERS = 20
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
      `Lists the newest executions of a container, or of your ${MAX_CONTAINERS} newest containers. \`logs\` prints what one of them wrote. A container that was deleted, as \`run\` does at its end without --keep, has none.`,
    )
    .argument('[container]')
    .option('-n, --number <count>', 'how many', countOf, DEFAULT_COUNT)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock runs', 'cellblock runs cntr_… -n 5'))
    .action(async (container: string | undefined, { number, json }: JsonOption & { readonly number: number }) => {
      const api = await io.api()
      const containers = container === undefined ? await newestContainers(api) : [container]
      const rows = (await Promise.all(containers.map((id) => executionsOf(api, id, number))))
        .flat()
        .toSorted((a, b) => String(b['created_at']).localeCompare(String(a['created_at'])))
        .slice(0, number)
      if (json) return printJson(io, rows)
      if (rows.length === 0) return io.note('There is no execution. Run code with `cellblock run --keep FILE`.\n')
      io.out(formatTable(rows.map(lineOf)))
    })
}

async function newestContainers(api: ApiClient): Promise<readonly string[]> {
  const { data } = (await api.call('GET', `/v1/containers?limit=${MAX_CONTAINERS}`)) as { readonly data: readonly Row[] }
  return data.map((row) => String(row['id']))
}

async function executionsOf(api: ApiClient, container: string, count: number): Promise<readonly Row[]> {
  const { data } = (await api.call('GET', `/v1/containers/${encodeURIComponent(container)}/executions?limit=${count}`)) as {
    readonly data: readonly Row[]
  }
  return data
}

function lineOf(row: Row): Readonly<Record<string, string>> {
  const usage = row['usage'] as { readonly run_ms: number } | null
  return {
    id: String(row['id']),
    container: String(row['container_id']),
    language: String(row['language']),
    status: typeof row['reason'] === 'string' ? `${String(row['status'])} (${row['reason']})` : String(row['status']),
    created_at: String(row['created_at']).slice(0, 19),
    time: usage === null ? '' : usage.run_ms < 10_000 ? `${(usage.run_ms / 1000).toFixed(1)} s` : secondsText(usage.run_ms / 1000),
  }
}
