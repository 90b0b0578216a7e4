import type { Container } from '../../services/model/containers/container.ts'
import type { Conversation } from '../../services/model/conversations/conversation.ts'
import type { Execution } from '../../services/model/executions/execution.ts'
import type { ContainerFile } from '../../services/model/files/file.ts'
import { newId } from '../../services/model/ids.ts'
import { newSandbox } from '../../services/operations/sandboxes/new-sandbox.ts'
import type { ResponseRecord, ResponseRequest } from '../../services/model/responses/response.ts'
import type { Sandbox } from '../../services/model/sandboxes/sandbox.ts'
import type { Skill, SkillVersion } from '../../services/model/skills/skill.ts'
import type { Upload } from '../../services/model/files/upload.ts'
import type { UserFile } from '../../services/model/files/user-file.ts'

/** The base time of tests, epoch ms. */
export const T0 = 1_800_000_000_000

export const executionRow = (change: Partial<Execution> = {}): Execution => ({
  v: 1,
  tenant: newId('tenant'),
  subject: null,
  id: newId('execution'),
  containerId: newId('container'),
  responseId: null,
  status: 'queued',
  reason: null,
  traceparent: null,
  source: { kind: 'code', code: 'print(1)' },
  timeoutSeconds: 120,
  onError: 'stop',
  storeHistory: true,
  metadata: {},
  publicUrl: 'http://127.0.0.1:8787',
  createdAt: T0,
  startedAt: null,
  endedAt: null,
  cancelRequestedAt: null,
  stepsFailSince: null,
  lease: null,
  fence: 0,
  sandboxId: null,
  lostBefore: [],
  result: null,
  resultRef: null,
  tailEvents: [],
  dueAt: T0 + 10_000,
  ...change,
})

export const responseRequest = (change: Partial<ResponseRequest> = {}): ResponseRequest => ({
  model: 'demo',
  input: 'hello',
  instructions: null,
  tools: [],
  toolChoice: 'auto',
  interpreter: null,
  include: [],
  metadata: {},
  temperature: null,
  topP: null,
  maxOutputTokens: null,
  maxToolCalls: null,
  parallelToolCalls: true,
  store: true,
  background: false,
  stream: false,
  user: null,
  echoed: {},
  ...change,
})

export const responseRow = (change: Partial<ResponseRecord> = {}): ResponseRecord => ({
  v: 1,
  tenant: newId('tenant'),
  subject: null,
  id: newId('response'),
  status: 'queued',
  request: responseRequest(),
  requestRef: null,
  previousResponseId: null,
  conversationId: null,
  containerId: null,
  items: [],
  itemsRef: null,
  pending: null,
  toolCalls: 0,
  consecutiveFailures: 0,
  usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
  error: null,
  traceparent: null,
  incompleteReason: null,
  contextCut: null,
  publicUrl: 'http://127.0.0.1:8787',
  createdAt: T0,
  completedAt: null,
  cancelRequestedAt: null,
  stepsFailSince: null,
  lease: null,
  fence: 0,
  nextSeq: 0,
  tailEvents: [],
  dueAt: T0 + 10_000,
  ...change,
})

export const containerRow = (change: Partial<Container> = {}): Container => ({
  v: 1,
  tenant: newId('tenant'),
  subject: null,
  id: newId('container'),
  name: 'notebook',
  createdAt: T0,
  lastActiveAt: T0,
  expiresAfterMinutes: 20,
  memoryTier: '1g',
  image: null,
  limits: null,
  queue: [],
  sandboxId: null,
  generation: 0,
  filesVersion: 0,
  syncedFilesVersion: 0,
  stateLost: null,
  snapshot: null,
  hibernating: null,
  deletedAt: null,
  dueAt: null,
  ...change,
})

export const fileRow = (change: Partial<ContainerFile> = {}): ContainerFile => ({
  v: 1,
  tenant: newId('tenant'),
  id: newId('containerFile'),
  containerId: newId('container'),
  path: 'data.csv',
  bytes: 12,
  sha256: null,
  mime: 'text/csv',
  source: 'user',
  createdAt: T0,
  objectKey: 'tenants/t/c/files/x',
  executionId: null,
  isCurrent: true,
  state: 'stored',
  sandboxGeneration: 0,
  ...change,
})

export const conversationRow = (change: Partial<Conversation> = {}): Conversation => ({
  v: 1,
  tenant: newId('tenant'),
  subject: null,
  id: newId('conversation'),
  metadata: {},
  createdAt: T0,
  title: null,
  archivedAt: null,
  queue: [],
  containerId: null,
  deletedAt: null,
  dueAt: null,
  ...change,
})

export const userFileRow = (change: Partial<UserFile> = {}): UserFile => ({
  v: 1,
  tenant: newId('tenant'),
  subject: null,
  id: newId('file'),
  filename: 'data.csv',
  bytes: 12,
  sha256: 'aa',
  mime: 'text/csv',
  purpose: 'user_data',
  createdAt: T0,
  expiresAt: null,
  objectKey: 'tenants/t/f/files/x',
  ...change,
})

export const skillVersion = (number = 1): SkillVersion => ({
  number,
  name: 'csv-report',
  description: 'Größe 😀',
  createdAt: T0 + number,
  objectKey: `tenants/t/s/skills/${number}`,
  bytes: 12,
  sha256: 'ab'.repeat(32),
})

export const skillRow = (change: Partial<Skill> = {}): Skill => ({
  v: 1,
  tenant: newId('tenant'),
  subject: null,
  id: newId('skill'),
  createdAt: T0,
  versions: [skillVersion()],
  defaultVersion: 1,
  nextNumber: 2,
  revision: 0,
  ...change,
})

export const uploadRow = (change: Partial<Upload> = {}): Upload => ({
  v: 1,
  tenant: newId('tenant'),
  subject: null,
  id: newId('upload'),
  filename: 'data.csv',
  bytes: 12,
  mime: 'text/csv',
  purpose: 'user_data',
  status: 'pending',
  createdAt: T0,
  expiresAt: T0 + 3_600_000,
  fileSeconds: null,
  ...change,
})

export const sandboxRow = (change: Partial<Sandbox> = {}): Sandbox => ({
  ...newSandbox({ memoryTier: '1g', image: 'cellblock-sandbox:test', claimedBy: null }, T0),
  ...change,
})
