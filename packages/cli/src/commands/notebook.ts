import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { InvalidArgumentError, type Command } from 'commander'
import { exitCodeOf, followExecution } from '../follow-execution.ts'
import { CliError, EXIT } from '../errors.ts'
import type { CommandContext } from '../io.ts'
import { examples, printJson, type JsonOption } from '../json-output.ts'
import { withPlainOutput } from '../plain-io.ts'
import { uploadFile } from '../transfer.ts'
import { collect, wholeSeconds } from './run.ts'

interface Cell {
  readonly cell_type: string
  readonly source: string | readonly string[]
  readonly metadata?: { readonly tags?: readonly string[] }
}
interface Notebook {
  readonly cells: readonly Cell[]
}
type Parameters = Readonly<Record<string, unknown>>

/** Valid JSON is parsed; any other text is a string. */
function parameter(value: string, before: Parameters = {}): Parameters {
  const at = value.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('The value has no "=". Give NAME=VALUE.')
  const [name, given] = [value.slice(0, at), value.slice(at + 1)]
  if (!/^[A-Za-z_]\w*$/.test(name))
    throw new InvalidArgumentError(`"${name}" is no Python name. Use letters, digits and _, and no digit at the start.`)
  try {
    return { ...before, [name]: JSON.parse(given) as unknown }
  } catch {
    return { ...before, [name]: given }
  }
}

/** Python source of a JSON value: `json.loads` reads every value as Python would write it. */
const assignmentOf = (name: string, value: unknown): string => `${name} = json.loads(${JSON.stringify(JSON.stringify(value))})`

/** Adds a cell that sets the parameters: after the cell tagged `parameters`, which holds the defaults, or as the first cell. */
export function withParameters(notebook: Notebook, parameters: Parameters): Notebook {
  if (Object.keys(parameters).length === 0) return notebook
  const source = ['import json', ...Object.entries(parameters).map(([name, value]) => assignmentOf(name, value))].join('\n')
  const cell = { cell_type: 'code', metadata: { tags: ['injected-parameters'] }, execution_count: null, outputs: [], source }
  const at = notebook.cells.findIndex(({ metadata }) => metadata?.tags?.includes('parameters')) + 1
  return { ...notebook, cells: notebook.cells.toSpliced(at, 0, cell) }
}

interface NotebookOptions extends JsonOption {
  readonly output: string
  readonly parameter?: Parameters
  readonly file?: readonly string[]
  readonly image?: string
  readonly timeout?: number
  readonly continue?: true
}

export function addNotebook(program: Command, { io: terminal, exit }: CommandContext): void {
  const io = withPlainOutput(terminal)
  program
    .command('notebook')
    .description('Works with notebooks.')
    .command('run')
    .summary('run all cells of a notebook and write the executed notebook')
    .description('Runs a notebook in a new container and writes it with its outputs, also when a cell fails.')
    .argument('<notebook>', 'the .ipynb file')
    .requiredOption('-o, --output <file>', 'where to write the executed notebook')
    .option(
      '-p, --parameter <name=value>',
      'set a variable after the cell tagged "parameters" (repeatable); JSON values keep their type',
      parameter,
      {},
    )
    .option('--file <path>', 'copy a local file to /mnt/data first (repeatable)', collect)
    .option('--image <name>', 'image of the container')
    .option('--timeout <seconds>', 'end the notebook after this time', wholeSeconds)
    .option('--continue', 'run the cells after a failed one too')
    .option('--json', 'print the execution as JSON instead of its output')
    .addHelpText('after', examples('cellblock notebook run report.ipynb -o out.ipynb -p region=EU -p year=2026 --file sales.csv'))
    .action(async (file: string, options: NotebookOptions) => {
      const notebook = withParameters(await readNotebook(resolve(io.folder, file)), options.parameter ?? {})
      const api = await io.api()
      const image = options.image === undefined ? {} : { image: options.image }
      const container = String((await api.call('POST', '/v1/containers', { name: 'notebook', ...image }))['id'])
      try {
        for (const path of options.file ?? []) await uploadFile(api, { container, file: path, io })
        const started = await api.call('POST', `/v1/containers/${container}/executions?wait=0`, {
          notebook,
          ...(options.continue ? { on_error: 'continue' } : {}),
          ...(options.timeout === undefined ? {} : { timeout_seconds: options.timeout }),
        })
        const id = String(started['id'])
        await followExecution(api, id, options.json ? { ...io, out: () => undefined, note: () => undefined } : io)
        const executed = await text(await api.bytes(`/v1/executions/${id}/notebook.ipynb`))
        await writeFile(resolve(io.folder, options.output), executed)
        const ended = await api.call('GET', `/v1/executions/${id}`)
        if (options.json) printJson(io, ended)
        else io.note(`wrote ${options.output}\n`)
        exit(exitCodeOf(ended))
      } finally {
        await api.call('DELETE', `/v1/containers/${container}`)
      }
    })
}

async function readNotebook(path: string): Promise<Notebook> {
  try {
    const notebook = JSON.parse(await readFile(path, 'utf8')) as Notebook
    if (Array.isArray(notebook.cells)) return notebook
  } catch (cause) {
    throw new CliError(
      `${path} cannot be read as a notebook: ${cause instanceof Error ? cause.message : String(cause)}. Check its path and that it contains JSON.`,
      { cause },
    )
  }
  throw new CliError(`${path} is no notebook of format 4: it has no list "cells". Open it in Jupyter and save it again.`, {
    exitCode: EXIT.usage,
  })
}
