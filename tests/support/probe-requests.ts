/** Ids of the right form that name no object, under the names of the path parameters. */
export const MISSING: Readonly<Record<string, string>> = {
  container_id: 'cntr_01kajv9h2s8p0ww3d4dq4cs1zt',
  session_id: 'cntr_01kajv9h2s8p0ww3d4dq4cs1zt',
  snapshot_id: 'snap_01kajv9h2s8p0ww3d4dq4cs1zt',
  execution_id: 'exec_01kajv9h2s8p0ww3d4dq4cs1zt',
  command_id: 'cmd_01kajv9h2s8p0ww3d4dq4cs1zt',
  response_id: 'resp_01kajv9h2s8p0ww3d4dq4cs1zt',
  file_id: 'cfile_01kajv9h2s8p0ww3d4dq4cs1zt',
  user_file_id: 'file-01kajv9h2s8p0ww3d4dq4cs1zt',
  conversation_id: 'conv_01kajv9h2s8p0ww3d4dq4cs1zt',
  item_id: 'msg_01kajv9h2s8p0ww3d4dq4cs1zt',
  share_id: 'share_01kajv9h2s8p0ww3d4dq4cs1zt',
  upload_id: 'upload_01kajv9h2s8p0ww3d4dq4cs1zt',
  link_id: 'link_01kajv9h2s8p0ww3d4dq4cs1zt',
  webhook_endpoint_id: 'whe_01kajv9h2s8p0ww3d4dq4cs1zt',
  tenant_id: 'tnt_01kajv9h2s8p0ww3d4dq4cs1zt',
  key_id: 'key_01kajv9h2s8p0ww3d4dq4cs1zt',
  job_id: 'exec_01kajv9h2s8p0ww3d4dq4cs1zt',
  sandbox_id: '01kajv9h2s8p0ww3d4dq4cs1zt01kajv9h2s8p0ww3d4dq4cs1zt',
  sandbox_uuid: '00000000-0000-4000-8000-000000000000',
  exec_id: 'exec-absent',
  port: '8501',
  process_id: 'cmd_01kajv9h2s8p0ww3d4dq4cs1zt',
  terminal_id: 'cmd_01kajv9h2s8p0ww3d4dq4cs1zt',
}

/** Headers of every probe: some wires learn the end user from them. */
export const PROBE_HEADERS: Readonly<Record<string, string>> = { 'x-user-id': 'someone' }

/** Parameters whose form the routes check first: an id of another form is answered with 400, whether an object has it or not. */
export const CHECKED_FORMS: Readonly<Record<string, string>> = { sandbox_uuid: '11111111-1111-4111-8111-111111111111' }

/** Valid bodies by operation, so that a probe reaches the look-up of its object. */
export const BODIES: Readonly<Record<string, unknown>> = {
  runCode: { code: 'x' },
  runCommand: { command: 'true' },
  sendCommandStdin: { data: 'x' },
  signalCommand: { signal: 'SIGTERM' },
  resizeCommand: { cols: 80, rows: 24 },
  makeFolder: { path: 'x' },
  setContainerNetwork: {},
  publishContainerPort: { port: 8501 },
  moveEntry: { from: 'x', to: 'y' },
  unpackArchive: { path: 'x' },
  forkContainer: {},
  createSnapshot: {},
  createContainersFromSnapshot: {},
  createUploadUrl: { path: 'x', bytes: 1 },
  createContainerFile: { file_id: MISSING['file_id'] },
  createConversationItems: { items: [{ role: 'user', content: 'y' }] },
  updateConversation: { metadata: {} },
  createShare: {},
  completeFileUpload: { part_ids: ['part_1'] },
  updateWebhookEndpoint: { name: 'x' },
  rotateWebhookSecret: {},
  testWebhookEndpoint: { event_type: 'response.completed' },
  'n8n post /sandboxes/{sandbox_uuid}/executions': { command: 'true' },
  'n8n post /sandboxes/{sandbox_uuid}/files/copy': { src: '/x', dest: '/y' },
  'n8n post /sandboxes/{sandbox_uuid}/files/move': { src: '/x', dest: '/y' },
  'open-webui post /execute/{process_id}/input': { input: 'x' },
  'open-webui post /api/terminals/{terminal_id}/size': { cols: 80, rows: 24 },
}

/** Valid queries by operation. */
export const QUERIES: Readonly<Record<string, string>> = {
  listEntries: '?path=x',
  getEntry: '?path=x',
  removeEntry: '?path=x',
  readRange: '?path=x',
  previewFile: '?path=x',
}
