import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { EnvironmentWorker } from '@anthropic-ai/sdk/lib/environments/worker'
import type { ApiClient } from '../api-client.ts'
import type { Io } from '../io.ts'
import { uploadFile } from '../transfer.ts'
import { containerTools } from './container-tools.ts'
import { SessionContainer } from './session-container.ts'

export interface WorkerOptions {
  readonly environmentId: string
  readonly environmentKey: string
  /** The address of Anthropic's API; its own unless given. */
  readonly baseUrl?: string | undefined
  readonly image?: string | undefined
  /** Sessions that are served at a time. */
  readonly sessions: number
  /** A session without events for this time is left; its next message brings it back. Milliseconds. */
  readonly maxIdleMs?: number | undefined
}

/** Serves sessions of a self-hosted environment until the signal aborts. Rejects when Anthropic refuses the key or the environment. */
export async function runClaudeWorker(api: ApiClient, options: WorkerOptions, io: Io): Promise<void> {
  const client = new Anthropic({ apiKey: null, authToken: null, ...(options.baseUrl !== undefined && { baseURL: options.baseUrl }) })
  await Promise.all(Array.from({ length: options.sessions }, () => serveSessions(client, { api, options, io })))
}

async function serveSessions(
  client: Anthropic,
  { api, options, io }: { readonly api: ApiClient; readonly options: WorkerOptions; readonly io: Io },
): Promise<void> {
  // The SDK downloads the skills of a session into this folder.
  const workdir = await mkdtemp(join(tmpdir(), 'cellblock-claude-'))
  try {
    await new EnvironmentWorker({
      client,
      environmentId: options.environmentId,
      environmentKey: options.environmentKey,
      workdir,
      ...(options.maxIdleMs !== undefined && { maxIdleMs: options.maxIdleMs }),
      // Memory stores are folders of the worker, and the tools act in the container.
      memorySyncIntervalMs: null,
      tools: ({ session }) => {
        const sessionId = session?.id ?? ''
        const container = new SessionContainer(api, { sessionId, image: options.image })
        let prepared: Promise<void> | null = null
        return containerTools(container, (signal) => {
          prepared ??= copySkills(api, { container, workdir, io, signal }).catch((error: unknown) => {
            prepared = null
            throw error
          })
          return prepared
        })
      },
    }).run(io.signal)
  } catch (error) {
    if (!io.signal.aborted) throw error
  } finally {
    await rm(workdir, { recursive: true, force: true })
  }
}

/** Copies what the SDK put below `skills/`. A repetition replaces files with the same content. */
async function copySkills(
  api: ApiClient,
  {
    container,
    workdir,
    io,
    signal,
  }: { readonly container: SessionContainer; readonly workdir: string; readonly io: Io; readonly signal: AbortSignal },
): Promise<void> {
  const found = await readdir(join(workdir, 'skills'), { recursive: true, withFileTypes: true }).catch(() => [])
  const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  if (files.length === 0) return
  const id = await container.id(signal)
  for (const file of files) await uploadFile(api, { container: id, file, io, target: relative(workdir, file) })
}
