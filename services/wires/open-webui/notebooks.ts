import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { ServiceError } from '../../model/errors.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { EXECUTION_LANGUAGES, type ExecutionLanguage } from '../../model/executions/language.ts'
import { buildNotebook } from '../../model/executions/notebook.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { LIMITS } from '../../model/limits.ts'
import { parseHostileJson } from '../../model/scan-json.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import { NOTEBOOK_INLINE_BYTES, notebookPart } from '../../operations/executions/notebook-parts.ts'
import { RUN_ANSWER_BYTES } from '../../operations/executions/result-budget.ts'
import { runCode } from '../../operations/executions/run-code.ts'
import { checkSource, parseNotebook } from '../../operations/executions/source.ts'
import { storedBytes } from '../../operations/executions/stored-bytes.ts'
import { HOME, type SandboxPath } from '../../operations/files/sandbox-path.ts'
import { osText } from '../../http/execution-scope.ts'
import { readJsonMessage } from '../../http/read-json.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { storeInTerminal } from './store-in-terminal.ts'
import { openFile, withText } from './open-file.ts'
import { terminalRoute } from './routing.ts'
import { findTerminal, useTerminal, type Terminal } from './terminal.ts'

/** The time of one cell, seconds. */
const CELL_SECONDS = 120
/** A session is a namespace of the kernel and a notebook: its id has the name of the one and the path of the other, so nothing is stored. */
const SESSION = /^([0-9a-f]{12})-([\w-]{1,1400})$/

interface Notebook {
  readonly file: SandboxPath
  readonly document: Readonly<Record<string, unknown>>
  readonly cells: readonly Readonly<Record<string, unknown>>[]
  readonly kernel: string
  readonly language: ExecutionLanguage
}

/** Throws ServiceError `invalid_notebook`. */
async function readNotebook(call: Call, terminal: Terminal, file: SandboxPath): Promise<Notebook> {
  const invalid = new ServiceError('invalid_notebook', `${file.shown} is no notebook of nbformat 4. Save it again with a notebook program.`)
  const document = await withText<unknown>(call, await openFile(call, terminal, file), {
    text: (text) => parseHostileJson(text),
    binary: () => undefined,
  })
  if (typeof document !== 'object' || document === null) throw invalid
  const known = document as Notebook['document']
  // Checks every cell.
  parseNotebook(known)
  const { kernelspec } = (known['metadata'] ?? {}) as { readonly kernelspec?: { readonly name?: unknown; readonly language?: unknown } }
  const kernel = (typeof kernelspec?.name === 'string' ? kernelspec.name : 'python3').slice(0, 100)
  const cells = known['cells'] as Notebook['cells']
  return {
    file,
    document: known,
    cells,
    kernel,
    language: languageOf(kernel, typeof kernelspec?.language === 'string' ? kernelspec.language : ''),
  }
}

/** Throws ServiceError `unsupported_value`. */
function languageOf(kernel: string, given: string): ExecutionLanguage {
  const named = [
    given.toLowerCase(),
    kernel
      .toLowerCase()
      .replace(/^python3$/, 'python')
      .replace(/^ir$/, 'r'),
  ]
  const language = EXECUTION_LANGUAGES.find((one) => named.includes(one))
  if (language !== undefined) return language
  throw new ServiceError(
    'unsupported_value',
    `The kernel ${JSON.stringify(kernel)} is not available. Use a notebook of ${EXECUTION_LANGUAGES.join(', ')}.`,
  )
}

interface Session {
  readonly id: string
  readonly context: string
  readonly terminal: Terminal
  readonly notebook: Notebook
}

async function sessionOf(call: Call): Promise<Session> {
  const id = call.param('notebook_id')
  const [, context, path] = SESSION.exec(id) ?? []
  const terminal = context === undefined ? null : await findTerminal(call, 'run')
  if (context === undefined || path === undefined || terminal === null) throw noSession()
  try {
    const notebook = await readNotebook(call, terminal, terminal.pathOf(Buffer.from(path, 'base64url').toString()))
    return { id, context, terminal, notebook }
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'file_not_found') throw noSession()
    throw error
  }
}

const noSession = (): ServiceError => new ServiceError('not_found', 'There is no such notebook session. Open the notebook again.')

const Open = lazySchema(() => openObject({ path: osText(LIMITS.maxPathBytes).min(1) }))

async function open(call: Call): Promise<Response> {
  const { path } = await readJsonMessage(call.request, Open())
  const terminal = await useTerminal(call, 'run')
  const { file, kernel } = await readNotebook(call, terminal, terminal.pathOf(path))
  const id = `${randomBytes(6).toString('hex')}-${Buffer.from(file.shown).toString('base64url')}`
  return json(200, { id, kernel, status: 'ready' })
}

const show = async (call: Call): Promise<Response> => {
  const { id, notebook } = await sessionOf(call)
  return json(200, { id, path: notebook.file.shown, kernel: notebook.kernel, status: 'ready' })
}

const Cell = lazySchema(() => openObject({ cell_index: z.int().min(0), source: z.string().nullish() }))

async function execute(call: Call): Promise<Response> {
  const { cell_index: index, source } = await readJsonMessage(call.request, Cell())
  const { context, terminal, notebook } = await sessionOf(call)
  const code = source ?? parseNotebook(notebook.document).find((cell) => cell.index === index)?.code
  if (code === undefined || notebook.cells[index]?.['cell_type'] !== 'code')
    throw new ServiceError('invalid_request', `The notebook has no cell of code with the number ${index}. Save it, and run the cell again.`)
  const row = await run(call, { context, terminal, language: notebook.language, code })
  return call.deps.results.hold(storedBytes(row) + NOTEBOOK_INLINE_BYTES, async () => {
    const part = await notebookPart(call.deps.objects, row, { bytes: NOTEBOOK_INLINE_BYTES })
    const [ran = {}] = buildNotebook([part])['cells'] as Notebook['cells']
    const done = { execution_count: ran['execution_count'] ?? null, outputs: hasEnded(row.status) ? ran['outputs'] : [tooLong()] }
    await save(call, terminal, { file: notebook.file, index, change: { source: code, ...done } })
    return json(200, { status: row.status === 'succeeded' ? 'ok' : 'error', ...done })
  })
}

const tooLong = () => ({
  output_type: 'error',
  ename: 'TimeoutError',
  evalue: `The cell ran longer than ${CELL_SECONDS} s and was interrupted.`,
  traceback: [],
})

async function run(
  call: Call,
  wanted: { readonly context: string; readonly terminal: Terminal; readonly language: ExecutionLanguage; readonly code: string },
): Promise<Execution> {
  const { deps, caller } = call
  const { terminal, language } = wanted
  deps.results.reserve(RUN_ANSWER_BYTES)
  const { timeoutSeconds: longest } = await deps.limits.of(caller.tenant)
  const timeoutSeconds = Math.min(CELL_SECONDS, longest)
  const { execution } = await runCode(terminal.context, {
    containerId: terminal.container.id,
    source: checkSource({ code: wanted.code }),
    ...(language !== 'python' && { language }),
    scope: { context: `notebook-${wanted.context}`, env: { HOME, PWD: HOME }, cwd: HOME },
    timeoutSeconds,
    waitMs: Math.min(timeoutSeconds, deps.config.maxHoldSeconds) * 1000,
  })
  if (!hasEnded(execution.status)) await cancelExecution(deps, execution)
  return execution
}

/** Writes the results of a cell into the notebook as it is now: the page may have saved it while the cell ran. */
async function save(
  call: Call,
  terminal: Terminal,
  { file, index, change }: { readonly file: SandboxPath; readonly index: number; readonly change: object },
): Promise<void> {
  const { document, cells } = await readNotebook(call, terminal, file)
  if (cells[index]?.['cell_type'] !== 'code') return
  const changed = { ...document, cells: cells.with(index, { ...cells[index], ...change }) }
  const bytes = Buffer.from(JSON.stringify(changed, null, 1))
  await storeInTerminal(call, terminal, (staged) => staged.add(file, Readable.from([bytes], { objectMode: false })))
}

/** Frees the variables of the session. */
async function close(call: Call): Promise<Response> {
  const { context, terminal, notebook } = await sessionOf(call)
  if (notebook.language === 'python' && terminal.container.sandboxId !== null)
    await run(call, { context, terminal, language: 'python', code: 'get_ipython().run_line_magic("reset", "-f")' })
  return json(200, { status: 'stopped' })
}

const PATH = '/notebooks/{notebook_id}'

export const notebookRoutes: readonly AnyRoute[] = [
  terminalRoute({ method: 'post', path: '/notebooks', scope: 'run', ownBody: Open, handle: open }),
  terminalRoute({ method: 'get', path: PATH, scope: 'run', handle: show }),
  terminalRoute({ method: 'post', path: `${PATH}/execute`, scope: 'run', ownBody: Cell, handle: execute }),
  terminalRoute({ method: 'delete', path: PATH, scope: 'run', handle: close }),
]
