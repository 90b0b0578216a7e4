import { manifest, zipOf } from './skill-files.ts'

interface Request {
  readonly method?: string
  readonly path: string
  readonly body?: string | FormData | Blob
  readonly headers?: Readonly<Record<string, string>>
}
type Ids = Readonly<Record<string, string>>
/** A request with which a tenant stores more, or the reason why it can store nothing or only a bounded amount with this operation. */
type Entry = string | { readonly send: (ids: Ids) => Request }

const json = (path: (ids: Ids) => string, body: unknown): Entry => ({ send: (ids) => ({ path: path(ids), body: JSON.stringify(body) }) })
const form = (path: (ids: Ids) => string, fields: Readonly<Record<string, string | Blob>>, name = 'x.txt'): Entry => ({
  send: (ids) => {
    const data = new FormData()
    for (const [field, value] of Object.entries(fields)) {
      if (typeof value === 'string') data.append(field, value)
      else data.append(field, value, name)
    }
    return { path: path(ids), body: data }
  },
})
const bytes = (method: string, path: (ids: Ids) => string): Entry => ({
  send: (ids) => ({ method, path: path(ids), body: 'text', headers: { 'content-type': 'application/octet-stream' } }),
})
/** A call of E2B's data plane, which names the sandbox in headers. */
const data = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Entry => ({
  send: (ids) => {
    const { sandboxID, envdAccessToken } = JSON.parse(ids['sandbox'] ?? '{}') as { sandboxID: string; envdAccessToken: string }
    return {
      path: `/e2b${path}`,
      body: typeof body === 'string' || body instanceof FormData ? body : JSON.stringify(body),
      headers: { 'e2b-sandbox-id': sandboxID, 'x-access-token': envdAccessToken, ...headers },
    }
  },
})
const tool = (name: string, args: unknown): Entry => ({
  send: () => ({
    path: '/mcp',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
  }),
})

const text = new Blob(['text'])
const skill = new Blob([Uint8Array.from(zipOf({ 'b/SKILL.md': manifest('b') }))])
const inContainer = (rest: string) => (ids: Ids) => `/v1/containers/${ids['container']}${rest}`

const REMOVES = 'removes or ends something'
const READS = 'stores nothing'
const ONE_ROW = 'one row of at most 300 KB for each tenant'
const SMALL_CHANGE = 'changes a field of fixed size'
const ONE_POLICY = 'one policy of at most 16 KiB in the row of the container'
const NOT_OFFERED = 'answers that it is not offered'
/** Calls of Connect; the one of a stream has an envelope. */
const call = (procedure: string, body: unknown): Entry => data(`/${procedure}`, body)
const stream = (procedure: string, body: unknown): Entry => {
  const message = JSON.stringify(body)
  const length = Buffer.alloc(5)
  length.writeUInt32BE(message.length, 1)
  return data(`/${procedure}`, length.toString('latin1') + message, { 'content-type': 'application/connect+json' })
}
const e2b = (method: string, path: string) => `e2b ${method} ${path}`

const E2B: Readonly<Record<string, Entry>> = {
  ...Object.fromEntries(
    [
      '/templates',
      '/v2/templates',
      '/v3/templates',
      '/templates/{template_id}',
      '/volumes',
      '/volumes/{volume_id}',
      '/secrets',
      '/secrets/{secret_id}',
    ]
      .flatMap((path) => [e2b('post', path), e2b('delete', path)])
      .map((operation) => [operation, NOT_OFFERED]),
  ),
  [e2b('post', '/sandboxes/{sandbox_id}/snapshots')]: 'as createSnapshot',
  [e2b('post', '/sandboxes/{sandbox_id}/fork')]: 'as forkContainer',
  [e2b('delete', '/templates/{template_id}')]: REMOVES,
  [e2b('put', '/sandboxes/{sandbox_id}/network')]: ONE_POLICY,
  [e2b('post', '/v2/sandboxes')]: json(() => '/e2b/v2/sandboxes', {}),
  [e2b('post', '/sandboxes')]: json(() => '/e2b/sandboxes', {}),
  ...Object.fromEntries(
    [
      '/v2/sandboxes/{sandbox_id}/connect',
      '/sandboxes/{sandbox_id}/connect',
      '/sandboxes/{sandbox_id}/resume',
      '/sandboxes/{sandbox_id}/timeout',
      '/sandboxes/{sandbox_id}/pause',
    ].map((path) => [e2b('post', path), SMALL_CHANGE]),
  ),
  [e2b('delete', '/sandboxes/{sandbox_id}')]: REMOVES,
  [e2b('post', '/execute')]: data('/execute', { code: 'x' }),
  [e2b('post', '/contexts')]: 'at most 50 for each sandbox',
  [e2b('delete', '/contexts/{context_id}')]: REMOVES,
  [e2b('post', '/contexts/{context_id}/restart')]: SMALL_CHANGE,
  [e2b('post', '/files')]: data('/files?path=x.txt', 'text', { 'content-type': 'application/octet-stream' }),
  [e2b('post', '/filesystem.Filesystem/Stat')]: call('filesystem.Filesystem/Stat', { path: 'x' }),
  [e2b('post', '/filesystem.Filesystem/ListDir')]: call('filesystem.Filesystem/ListDir', { path: '/home/user', depth: 1 }),
  [e2b('post', '/filesystem.Filesystem/MakeDir')]: call('filesystem.Filesystem/MakeDir', { path: 'x' }),
  [e2b('post', '/filesystem.Filesystem/Move')]: call('filesystem.Filesystem/Move', { source: 'x', destination: 'y' }),
  [e2b('post', '/filesystem.Filesystem/Remove')]: call('filesystem.Filesystem/Remove', { path: 'x' }),
  [e2b('post', '/filesystem.Filesystem/WatchDir')]: stream('filesystem.Filesystem/WatchDir', { path: '/home/user' }),
  [e2b('post', '/filesystem.Filesystem/CreateWatcher')]: call('filesystem.Filesystem/CreateWatcher', { path: '/home/user' }),
  [e2b('post', '/filesystem.Filesystem/GetWatcherEvents')]: READS,
  [e2b('post', '/filesystem.Filesystem/RemoveWatcher')]: REMOVES,
  [e2b('post', '/process.Process/Start')]: stream('process.Process/Start', { process: { cmd: 'true' } }),
  [e2b('post', '/process.Process/Connect')]: READS,
  [e2b('post', '/process.Process/List')]: READS,
  [e2b('post', '/process.Process/SendInput')]: 'as sendCommandStdin',
  [e2b('post', '/process.Process/SendSignal')]: 'as signalCommand',
  [e2b('post', '/process.Process/CloseStdin')]: 'as sendCommandStdin',
  [e2b('post', '/process.Process/Update')]: 'as resizeCommand',
}

/** A call of Open WebUI, which names the user beside the key. */
const ofUser = (entry: Entry): Entry => {
  if (typeof entry === 'string') return entry
  const send = (ids: Ids): Request => {
    const request = entry.send(ids)
    return { ...request, headers: { ...request.headers, 'x-user-id': 'someone' } }
  }
  return { send }
}
const OPEN_WEBUI: Readonly<Record<string, Entry>> = Object.fromEntries(
  Object.entries({
    'put /api/v1/policies/{policy_id}': NOT_OFFERED,
    'delete /api/v1/policies/{policy_id}': NOT_OFFERED,
    'put /api/v1/policies/{policy_id}/lifecycle': NOT_OFFERED,
    'post /api/v1/terminals/refresh': NOT_OFFERED,
    'post /api/terminals': json(() => '/open-webui/api/terminals', {}),
    'post /api/terminals/{terminal_id}/input': 'as sendCommandStdin',
    'post /api/terminals/{terminal_id}/size': 'as resizeCommand',
    'delete /api/terminals/{terminal_id}': REMOVES,
    'post /execute': json(() => '/open-webui/execute', { command: 'true' }),
    'post /execute/{process_id}/input': 'as sendCommandStdin',
    'delete /execute/{process_id}': REMOVES,
    'post /files/archive': json(() => '/open-webui/files/archive', { paths: ['x'] }),
    'post /files/cwd': json(() => '/open-webui/files/cwd', { path: '/tmp' }),
    'post /files/write': json(() => '/open-webui/files/write', { path: 'x', content: 'x' }),
    'post /files/upload': form(() => '/open-webui/files/upload?directory=.', { file: text }),
    'post /files/mkdir': json(() => '/open-webui/files/mkdir', { path: 'x' }),
    'post /files/move': json(() => '/open-webui/files/move', { source: 'x', destination: 'y' }),
    'post /files/replace': json(() => '/open-webui/files/replace', { path: 'x', replacements: [{ target: 'a', replacement: 'b' }] }),
    'delete /files/delete': REMOVES,
    'post /notebooks': READS,
    'post /notebooks/{notebook_id}/execute': 'as createContainerFile and runCode, for a notebook that is stored',
    'delete /notebooks/{notebook_id}': REMOVES,
  } satisfies Readonly<Record<string, Entry>>).map(([operation, entry]) => [`open-webui ${operation}`, ofUser(entry)]),
)

/** Every operation of every wire that is not a read. */
export const STORED: Readonly<Record<string, Entry>> = {
  createResponse: json(() => '/v1/responses', { model: 'demo', input: 'x', background: true }),
  createChatCompletion: json(() => '/v1/chat/completions', { model: 'demo', messages: [{ role: 'user', content: 'x' }] }),
  compactResponse: READS,
  countInputTokens: READS,
  cancelResponse: REMOVES,
  deleteResponse: REMOVES,
  createConversation: json(() => '/v1/conversations', {}),
  createConversationItems: json((ids) => `/v1/conversations/${ids['conversation']}/items`, {
    items: [{ type: 'message', role: 'user', content: 'x' }],
  }),
  updateConversation: json((ids) => `/v1/conversations/${ids['conversation']}`, {
    metadata: Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`key ${index}`, 'x'.repeat(500)])),
  }),
  deleteConversation: REMOVES,
  setContainerNetwork: ONE_POLICY,
  publishContainerPort: 'at most 500 ports of some bytes, and 100 links, in one row of the tenant',
  unpublishContainerPort: REMOVES,
  suspendContainer: 'its checkpoint counts; a full account hibernates the container instead',
  resumeContainer: 'removes the checkpoint',
  forkContainer: 'tests/api/copies/fork.test.ts: all bytes of all copies are counted before the first is copied',
  putSecret: 'at most 100 secrets of 8 KiB for each tenant',
  deleteSecret: REMOVES,
  createShare: 'at most ten links of some bytes in the row of the conversation',
  revokeShare: REMOVES,
  deleteConversationItem: REMOVES,
  createContainer: json(() => '/v1/containers', { name: 'x' }),
  deleteContainer: REMOVES,
  createSnapshot: 'as forkContainer',
  createContainersFromSnapshot: 'as forkContainer',
  deleteSnapshot: REMOVES,
  createContainerFile: form(inContainer('/files'), { file: text }),
  createUploadUrl: json(inContainer('/files/upload_url'), { path: 'x.txt', bytes: 4 }),
  completeUpload: 'counted when its link was made',
  deleteContainerFile: REMOVES,
  makeFolder: json(inContainer('/entries'), { path: 'folder' }),
  moveEntry: json(inContainer('/entries/move'), { from: 'a', to: 'b' }),
  unpackArchive: json(inContainer('/entries/unpack'), { path: 'a.zip' }),
  removeEntry: REMOVES,
  createFile: form(() => '/v1/files', { purpose: 'user_data', file: text }),
  deleteFile: REMOVES,
  createUpload: json(() => '/v1/uploads', { filename: 'x', bytes: 10, mime_type: 'text/plain', purpose: 'user_data' }),
  addUploadPart: form((ids) => `/v1/uploads/${ids['upload']}/parts`, { data: text }),
  completeFileUpload: 'joins parts, which are removed',
  cancelUpload: REMOVES,
  createSkill: form(() => '/v1/skills', { files: skill }, 'b.zip'),
  createSkillVersion: form((ids) => `/v1/skills/${ids['skill']}/versions`, { files: skill }, 'b.zip'),
  updateSkill: SMALL_CHANGE,
  deleteSkill: REMOVES,
  deleteSkillVersion: REMOVES,
  runCode: json(inContainer('/executions?wait=0'), { code: 'x' }),
  cancelExecution: REMOVES,
  runCommand: json(inContainer('/commands?wait=0'), { command: 'true' }),
  cancelCommand: REMOVES,
  sendCommandStdin: json((ids) => `/v1/commands/${ids['command']}/stdin`, { data: 'x' }),
  signalCommand: json((ids) => `/v1/commands/${ids['command']}/signal`, { signal: 'SIGTERM' }),
  resizeCommand: 'as sendCommandStdin',
  revokeFileLinks: REMOVES,
  revokeLink: REMOVES,
  createWebhookEndpoint: ONE_ROW,
  updateWebhookEndpoint: ONE_ROW,
  deleteWebhookEndpoint: REMOVES,
  rotateWebhookSecret: ONE_ROW,
  testWebhookEndpoint: ONE_ROW,
  mcp: tool('execute_code', { code: 'x' }),
  librechatExec: json(() => '/librechat/v1/exec', { lang: 'py', code: 'x' }),
  librechatProgram: json(() => '/librechat/v1/exec/programmatic', { code: 'x', tools: [{ name: 'a' }] }),
  librechatCancelProgram: REMOVES,
  librechatUpload: form(() => '/librechat/v1/upload', { file: text }),
  librechatUploadBatch: form(() => '/librechat/v1/upload/batch', { file: text }),
  librechatDeleteFile: REMOVES,
  'n8n post /sandboxes': json(() => '/n8n/sandboxes', {}),
  'n8n delete /sandboxes/{sandbox_uuid}': REMOVES,
  'n8n post /sandboxes/{sandbox_uuid}/executions': json((ids) => `/n8n/sandboxes/${ids['uuid']}/executions`, { command: 'true' }),
  'n8n delete /sandboxes/{sandbox_uuid}/executions/{exec_id}': REMOVES,
  'n8n put /sandboxes/{sandbox_uuid}/files': bytes('PUT', (ids) => `/n8n/sandboxes/${ids['uuid']}/files?path=x`),
  'n8n post /sandboxes/{sandbox_uuid}/files': bytes('POST', (ids) => `/n8n/sandboxes/${ids['uuid']}/files?path=x`),
  'n8n delete /sandboxes/{sandbox_uuid}/files': bytes('DELETE', (ids) => `/n8n/sandboxes/${ids['uuid']}/files?path=x`),
  'n8n post /sandboxes/{sandbox_uuid}/files/copy': json((ids) => `/n8n/sandboxes/${ids['uuid']}/files/copy`, { src: 'x', dest: 'y' }),
  'n8n post /sandboxes/{sandbox_uuid}/files/move': json((ids) => `/n8n/sandboxes/${ids['uuid']}/files/move`, { src: 'x', dest: 'y' }),
  'n8n post /sandboxes/{sandbox_uuid}/mkdir': json((ids) => `/n8n/sandboxes/${ids['uuid']}/mkdir?path=x&recursive=true`, {}),
  execute: json(() => '/execute', { code: 'x' }),
  ...E2B,
  ...OPEN_WEBUI,
}
