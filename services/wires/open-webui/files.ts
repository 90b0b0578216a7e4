import { posix } from 'node:path'
import { Readable } from 'node:stream'
import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { ServiceError } from '../../model/errors.ts'
import { mimeOf } from '../../model/files/mime.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Scope } from '../../model/tenants/tenant.ts'
import { listFolder, makeFolder, movePath, removePath, statPath, type SandboxEntry } from '../../operations/files/sandbox-files.ts'
import { HOME } from '../../operations/files/sandbox-path.ts'
import { osText } from '../../http/execution-scope.ts'
import { refuseAnnounced, refuseEncoded } from '../../http/read-body.ts'
import { readJsonMessage } from '../../http/read-json.ts'
import { FORM_OVERHEAD_BYTES, receiveFiles, type FormRules } from '../../http/receive-multipart.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { storeInTerminal } from './store-in-terminal.ts'
import { isFile, openFile, withText } from './open-file.ts'
import { count, terminalRoute } from './routing.ts'
import { enterFolder, findTerminal, useTerminal, type Terminal } from './terminal.ts'

const FORM = { maxBytes: LIMITS.maxFileBytes, part: 'file', advice: 'Split it.' } as const satisfies FormRules
const path = () => osText(LIMITS.maxPathBytes)
const OfPath = lazySchema(() => z.object({ path: path() }))
type PathCall = Call<z.infer<ReturnType<typeof OfPath>>>

/** The handler of a route that uses the terminal. */
const inTerminal =
  <Query>(scope: Scope, handle: (call: Call<Query>, terminal: Terminal) => Promise<Response>) =>
  async (call: Call<Query>): Promise<Response> =>
    handle(call, await useTerminal(call, scope))

/** A link counts as what it leads to. */
const typeOf = ({ type, resolved }: SandboxEntry): 'file' | 'directory' =>
  (type === 'link' ? resolved?.type : type) === 'folder' ? 'directory' : 'file'

const OfFolder = lazySchema(() => z.object({ directory: path().default('.') }))

const list = inTerminal('files', async (call: Call<{ readonly directory: string }>, { container, context, pathOf }) => {
  const folder = pathOf(call.query.directory)
  const { entries, is_truncated: isTruncated } = await listFolder(context, container.id, { path: folder.real })
  return json(200, {
    dir: folder.shown,
    writable: true,
    entries: entries.map((entry) => ({
      name: entry.name,
      type: typeOf(entry),
      size: entry.bytes,
      modified: entry.modified_at / 1000,
    })),
    // More entries than the sandbox lists.
    ...(isTruncated && { truncated: true }),
  })
})

const Read = lazySchema(() => z.object({ path: path(), start_line: count(1).optional(), end_line: count(1).optional() }))

const read = inTerminal('files', async (call: Call<z.infer<ReturnType<typeof Read>>>, terminal) => {
  const { path: given, start_line: first = 1, end_line: last } = call.query
  const file = terminal.pathOf(given)
  const opened = await openFile(call, terminal, file)
  const mime = mimeOf(file.shown)
  if (mime.startsWith('image/') && mime !== 'image/svg+xml') return typed(opened, mime)
  return withText<Response>(call, opened, {
    text: (text) => {
      const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
      return json(200, { path: file.shown, total_lines: lines.length, content: lines.slice(first - 1, last).join('') })
    },
    binary: (bytes) => {
      throw new ServiceError(
        'unsupported_media_type',
        `${file.shown} is not text (${mime}, ${bytes.length} bytes). Convert it with a command, or show it with display_file.`,
      )
    },
  })
})

/** The page shows the file; the answer says where it is. */
const display = inTerminal('files', async (call: PathCall, terminal) => {
  const file = terminal.pathOf(call.query.path)
  return json(200, { path: file.shown, exists: await isFile(call, terminal, file) })
})

const typed = (opened: Response, mime: string): Response =>
  new Response(opened.body, { headers: { ...Object.fromEntries(opened.headers), 'content-type': mime } })

const view = inTerminal('files', async (call: PathCall, terminal) => {
  const file = terminal.pathOf(call.query.path)
  return typed(await openFile(call, terminal, file), mimeOf(file.shown))
})

/** What a page of the user's may do in a frame of Open WebUI: it has no origin, so it reads nothing of Open WebUI. */
const FRAMED = {
  'content-security-policy': 'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads',
  'cross-origin-resource-policy': 'cross-origin',
  'content-disposition': 'inline',
} as const

/** The same at an address whose relative links lead to the files beside it. */
const serve = inTerminal('files', async (call: Call, terminal) => {
  const file = terminal.pathOf(`/${call.param('path')}`)
  const opened = typed(await openFile(call, terminal, file), mimeOf(file.shown))
  return new Response(opened.body, { headers: { ...Object.fromEntries(opened.headers), ...FRAMED } })
})

const Write = lazySchema(() => openObject({ path: path().min(1), content: z.string() }))

async function write(call: Call): Promise<Response> {
  const { path: given, content } = await readJsonMessage(call.request, Write())
  const terminal = await useTerminal(call, 'files')
  const file = terminal.pathOf(given)
  const bytes = Buffer.from(content)
  await storeInTerminal(call, terminal, (staged) => staged.add(file, Readable.from([bytes], { objectMode: false })))
  return json(200, { path: file.shown, size: bytes.byteLength })
}

const upload = inTerminal('files', async (call: Call<{ readonly directory: string }>, terminal) => {
  refuseEncoded(call.request)
  refuseAnnounced(call.request, LIMITS.maxFileBytes + FORM_OVERHEAD_BYTES)
  const received = await storeInTerminal(call, terminal, async (staged) => {
    const { files: stored } = await receiveFiles(call.request, FORM, async (stream, filename) => {
      const file = terminal.pathOf(posix.join(call.query.directory, posix.basename(filename) || 'upload'))
      return { path: file.shown, size: await staged.add(file, stream) }
    })
    const [one] = stored
    if (one === undefined) throw new ServiceError('invalid_request', 'The form has no file. Send the bytes in a part named "file".')
    return one
  })
  return json(200, received)
})

const Folder = lazySchema(() => openObject({ path: path().min(1) }))

async function makeDir(call: Call): Promise<Response> {
  const { path: given } = await readJsonMessage(call.request, Folder())
  const { container, context, pathOf } = await useTerminal(call, 'files')
  const folder = pathOf(given)
  await makeFolder(context, container.id, folder.real)
  return json(200, { path: folder.shown })
}

const remove = inTerminal('files', async (call: PathCall, { container, context, pathOf }) => {
  const entry = pathOf(call.query.path)
  const type = typeOf(await statPath(context, container.id, { path: entry.real }))
  await removePath(context, container.id, { path: entry.real, recursive: true })
  return json(200, { path: entry.shown, type })
})

const Move = lazySchema(() => openObject({ source: path().min(1), destination: path().min(1) }))

async function move(call: Call): Promise<Response> {
  const { source, destination } = await readJsonMessage(call.request, Move())
  const { container, context, pathOf } = await useTerminal(call, 'files')
  const [from, to] = [pathOf(source), pathOf(destination)]
  await movePath(context, container.id, { from: from.real, to: to.real })
  return json(200, { source: from.shown, destination: to.shown })
}

/** Called in every turn, so it creates nothing. */
async function folder(call: Call): Promise<Response> {
  const terminal = await findTerminal(call, 'files')
  return json(200, { cwd: terminal?.folder ?? HOME, home: HOME, root: { path: HOME, label: 'Home' } })
}

async function changeFolder(call: Call): Promise<Response> {
  const { path: given } = await readJsonMessage(call.request, Folder())
  const terminal = await useTerminal(call, 'files')
  const { real, shown } = terminal.pathOf(given)
  const entry = await statPath(terminal.context, terminal.container.id, { path: real })
  if (typeOf(entry) !== 'directory') throw new ServiceError('file_not_found', `There is no folder ${shown}.`)
  await enterFolder(call, terminal, shown)
  return json(200, { cwd: shown })
}

const files = { scope: 'files' } as const

export const fileRoutes: readonly AnyRoute[] = [
  terminalRoute({ ...files, method: 'get', path: '/files/cwd', handle: folder }),
  terminalRoute({ ...files, method: 'post', path: '/files/cwd', ownBody: Folder, handle: changeFolder }),
  terminalRoute({ ...files, method: 'get', path: '/files/list', query: OfFolder, handle: list }),
  terminalRoute({ ...files, method: 'get', path: '/files/read', query: Read, handle: read }),
  terminalRoute({ ...files, method: 'get', path: '/files/display', query: OfPath, handle: display }),
  terminalRoute({ ...files, method: 'get', path: '/files/view', query: OfPath, handle: view }),
  terminalRoute({ ...files, method: 'get', path: '/files/serve/{+path}', handle: serve }),
  terminalRoute({ ...files, method: 'post', path: '/files/write', ownBody: Write, handle: write }),
  terminalRoute({ ...files, method: 'post', path: '/files/upload', query: OfFolder, handle: upload }),
  terminalRoute({ ...files, method: 'post', path: '/files/mkdir', ownBody: Folder, handle: makeDir }),
  terminalRoute({ ...files, method: 'delete', path: '/files/delete', query: OfPath, handle: remove }),
  terminalRoute({ ...files, method: 'post', path: '/files/move', ownBody: Move, handle: move }),
]
