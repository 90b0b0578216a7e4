import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { InvalidArgumentError, type Command } from 'commander'
import type { ApiClient } from '../api-client.ts'
import { exitCodeOf, followExecution } from '../follow-execution.ts'
import { CliError, EXIT } from '../errors.ts'
import type { CommandContext, Io } from '../io.ts'
import { examples, printJson, type JsonOption } from '../json-output.ts'
import { withPlainOutput } from '../plain-io.ts'
import { downloadFile, uploadFile } from '../transfer.ts'

const LANGUAGES: Readonly<Record<string, string>> = {
  '': 'python',
  '.py': 'python',
  '.sh': 'bash',
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.ts': 'typescript',
  '.r': 'r',
}

interface RunOptions extends JsonOption {
  readonly lang?: string
  readonly file?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly out?: string
  readonly container?: string
  readonly image?: string
  readonly timeout?: number
  readonly keep?: true
  readonly raw?: true
}

export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

/** Throws InvalidArgumentError, which commander reports with the option's name. */
export function wholeSeconds(value: string): number {
  if (!/^[1-9]\d*$/.test(value)) throw new InvalidArgumentError('Give whole seconds, at least 1.')
  return Number(value)
}

function assignment(value: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = value.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('The value has no "=". Give NAME=VALUE.')
  return { ...before, [value.slice(0, at)]: value.slice(at + 1) }
}

export function addRun(program: Command, { io, exit }: CommandContext): void {
  program
    .command('run')
    .summary('run a file, or standard input, and print its output as it comes')
    .description('Runs a file in a sandbox. Output appears while the code runs. Ctrl-C cancels the execution.')
    .argument('<file>', 'the code; "-" reads standard input')
    .option('--lang <language>', 'python, bash, javascript, typescript or r; by the ending of the file unless given')
    .option('--file <path>', 'copy a local file to /mnt/data first (repeatable)', collect)
    .option('--env <name=value>', 'set an environment variable for this run (repeatable)', assignment)
    .option('--out <folder>', 'download every file that the code writes')
    .option('--container <id>', 'run in this container, with its variables and files; else in a new one that is deleted afterwards')
    .option('--image <name>', 'image of the new container, such as slim, standard or full')
    .option('--timeout <seconds>', 'end the code after this time', wholeSeconds)
    .option('--keep', 'keep the new container and print its id')
    .option('--raw', 'keep control sequences that the code writes to the terminal')
    .option('--json', 'print the execution as JSON instead of its output')
    .addHelpText('after', examples('cellblock run analysis.py --file sales.csv --out results', 'echo "print(6 * 7)" | cellblock run -'))
    .action(async (file: string, options: RunOptions) => {
      exit(await run({ api: await io.api(), io: options.raw ? io : withPlainOutput(io) }, file, options))
    })
}

async function run({ api, io }: { readonly api: ApiClient; readonly io: Io }, file: string, options: RunOptions): Promise<number> {
  const language = options.lang ?? languageOf(file)
  const code = await readCode(file, io)
  const image = options.image === undefined ? {} : { image: options.image }
  const container = options.container ?? String((await api.call('POST', '/v1/containers', { name: 'cli', ...image }))['id'])
  try {
    for (const path of options.file ?? []) await uploadFile(api, { container, file: path, io })
    const execution = await api.call('POST', `/v1/containers/${encodeURIComponent(container)}/executions?wait=0`, {
      code,
      language,
      ...(options.timeout === undefined ? {} : { timeout_seconds: options.timeout }),
      ...(options.env === undefined ? {} : { env: options.env }),
    })
    const id = String(execution['id'])
    // Downloaded files are named when they are saved, not with their links.
    const shown = { ...io, hasLinks: options.out === undefined }
    await followExecution(api, id, options.json ? { ...shown, out: () => undefined, note: () => undefined } : shown)
    const ended = await api.call('GET', `/v1/executions/${id}`)
    if (options.json) printJson(io, ended)
    if (options.out !== undefined) await downloadAll(api, { container, execution: ended, folder: resolve(io.folder, options.out), io })
    return exitCodeOf(ended)
  } finally {
    if (options.keep) io.note(`container ${container}\n`)
    else if (options.container === undefined) await api.call('DELETE', `/v1/containers/${container}`)
  }
}

/** Throws CliError for an ending that names no language. */
function languageOf(file: string): string {
  const ending = extname(file).toLowerCase()
  const language = LANGUAGES[ending]
  if (language !== undefined) return language
  const advice = ending === '.ipynb' ? `Run it with \`cellblock notebook run ${file} -o out.ipynb\`.` : 'Name the language with --lang.'
  throw new CliError(`The ending ${ending} names no language. ${advice}`, { exitCode: EXIT.usage })
}

async function downloadAll(
  api: ApiClient,
  {
    container,
    execution,
    folder,
    io,
  }: { readonly container: string; readonly execution: Readonly<Record<string, unknown>>; readonly folder: string; readonly io: Io },
): Promise<void> {
  for (const file of execution['files'] as readonly { readonly id: string; readonly path: string }[])
    io.note(`saved ${await downloadFile(api, { container, file, folder })}\n`)
}

async function readCode(file: string, io: Io): Promise<string> {
  if (file === '-') return text(io.stdin)
  try {
    return await readFile(resolve(io.folder, file), 'utf8')
  } catch (cause) {
    throw new CliError(
      `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}. Check its path and permissions.`,
      { cause },
    )
  }
}
