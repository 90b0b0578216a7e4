import type { Command } from 'commander'
import { CliError, EXIT } from '../errors.ts'
import type { CommandContext } from '../io.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'

/** One check: a title and a function; an error that it throws is the finding. */
type Check = readonly [title: string, run: () => Promise<string>]

export function addDoctor(program: Command, { io, exit }: CommandContext): void {
  program
    .command('doctor')
    .summary('check the connection, the server and the key')
    .description('Checks that the server answers, can take work and accepts the key, and that a sandbox runs code.')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock doctor'))
    .action(async (options: JsonOption) => {
      const url = await io.url()
      const checks: readonly Check[] = [
        ['server answers', () => getJson(`${url}/healthz`).then(() => url)],
        ['server can take work', async () => describeParts(await getJson(`${url}/readyz`))],
        ['key is accepted', async () => (await io.api()).call('GET', '/v1/limits').then(() => 'yes')],
        ['models', async () => (await (await io.api()).list('/v1/models')).map((model) => String(model['id'])).join(', ')],
        ['sandbox runs code', runsCode],
      ]
      const results: { readonly check: string; readonly ok: boolean; readonly detail: string }[] = []
      for (const [check, run] of checks) {
        const result = await run().then(
          (detail) => ({ check, ok: true, detail }),
          (error: unknown) => ({ check, ok: false, detail: error instanceof Error ? error.message : String(error) }),
        )
        results.push(result)
        if (options.json !== true) io.out(`${result.ok ? 'ok    ' : 'FAILED'}  ${check}: ${result.detail}\n`)
        if (result.ok) continue
        // The later checks need what has just failed.
        exit(EXIT.refused)
        break
      }
      if (options.json) printJson(io, results)
    })

  async function runsCode(): Promise<string> {
    const api = await io.api()
    const container = String((await api.call('POST', '/v1/containers', { name: 'doctor' }))['id'])
    try {
      const start = performance.now()
      const execution = await api.call('POST', `/v1/containers/${container}/executions`, { code: 'print(6 * 7)' })
      if (execution['stdout'] !== '42\n')
        throw new CliError(
          `A test execution ended ${String(execution['status'])} instead of printing 42. Run \`npm run doctor\` on the server's machine.`,
        )
      return `${Math.round(performance.now() - start)} ms with its start`
    } finally {
      await api.call('DELETE', `/v1/containers/${container}`)
    }
  }
}

async function getJson(url: string): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url).catch((cause: unknown) => {
    throw new CliError(`No server answers at ${url}. Start one with \`npm start\`, or set CELLBLOCK_URL.`, { cause })
  })
  return (await response.json()) as Readonly<Record<string, unknown>>
}

/** Throws CliError that names the parts that do not answer. */
function describeParts(readiness: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(readiness['parts'] as Readonly<Record<string, { ok: boolean; detail?: string }>>)
  const broken = parts.filter(([, { ok }]) => !ok)
  if (broken.length > 0)
    throw new CliError(
      `${broken.map(([name, { detail }]) => `${name}: ${detail ?? 'no answer'}`).join('; ')}. The server cannot take work without them; its log has the cause.`,
    )
  return parts.map(([name]) => name).join(', ')
}
