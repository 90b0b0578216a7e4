import { posix } from 'node:path'
import * as z from 'zod'
import { boundedList } from '../../model/bounded-schemas.ts'
import type { Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import type { Scope } from '../../model/tenants/tenant.ts'
import { createContainer } from '../../operations/containers/create-container.ts'
import { findOrCreateNamed, recallNamedContainer } from '../../operations/containers/named-container.ts'
import type { RunContext } from '../../operations/executions/run-code.ts'
import { HOME, sandboxPath, type SandboxPath } from '../../operations/files/sandbox-path.ts'
import { defaultPolicy } from '../../operations/network/new-policy.ts'
import { runContext, type Call } from '../../http/route.ts'
import { USER_HEADER, userOf } from './routing.ts'

/** Names the extension of containers that this wire keeps. */
const WIRE = 'open-webui'
export const CONTEXT_HEADER = 'x-terminal-context-id'
/** Set for a connection whose chats or automations have separate terminals. */
const CONTEXT = /^(?:chat|automation):[\w.-]{1,100}$/
export const SHARED = 'default'
export const CHAT_HEADER = 'x-session-id'
const CHAT = /^[\x21-\x7e]{1,200}$/
/** Chats whose folder is remembered, the latest. */
const MAX_FOLDERS = 100

/** What the wire keeps with a container: the folders that chats have entered, the latest last. */
const Kept = lazySchema(() =>
  z.object({ folders: boundedList(z.object({ chat: z.string(), path: z.string() }), { max: MAX_FOLDERS }).readonly() }),
)

export interface Terminal {
  readonly container: Container
  readonly context: RunContext
  /** Where commands of this chat begin. */
  readonly folder: string
  /** A path of the client: absolute, or relative to the folder of the chat. Throws ServiceError. */
  readonly pathOf: (given: string) => SandboxPath
}

/** The chat that a request belongs to; empty for one outside of a chat. Throws ServiceError. */
export function chatOf({ request }: Pick<Call, 'request'>): string {
  const chat = request.headers.get(CHAT_HEADER) ?? ''
  if (chat === '' || CHAT.test(chat)) return chat
  throw new ServiceError('invalid_request', `${CHAT_HEADER} must have 1 to 200 characters without spaces. Send the id of the chat.`)
}

/** The container of a user, or of one chat or automation of the user, is the newest with this name. Throws ServiceError. */
function nameOf({ request, caller }: Pick<Call, 'request' | 'caller'>): string {
  const user = userOf(request)
  // Without a name, all users of the account would have one terminal.
  if (caller.subject === null)
    throw new ServiceError('invalid_request', `The request names no user. Send ${USER_HEADER}, or use a key that is bound to an end user.`)
  const context = request.headers.get(CONTEXT_HEADER)?.trim() || SHARED
  if (context !== SHARED && !CONTEXT.test(context))
    throw new ServiceError('invalid_request', `${CONTEXT_HEADER} must be chat: or automation: and an id, or absent.`)
  return `${WIRE}:${user}:${context}`
}

/** Null for a user who has not used the terminal. Throws ServiceError. */
export async function findTerminal(call: Call, scope: Scope): Promise<Terminal | null> {
  const container = await recallNamedContainer(call, nameOf(call), scope)
  return container === null ? null : terminalOf(call, container)
}

/** The terminal of the user, which is created with its first use. Throws ServiceError. */
export async function useTerminal(call: Call, scope: Scope): Promise<Terminal> {
  return (await findTerminal(call, scope)) ?? terminalOf(call, await newContainer(call))
}

async function newContainer(call: Call): Promise<Container> {
  const { deps, caller } = call
  const name = nameOf(call)
  const { container } = await findOrCreateNamed(call, name, async (id) => {
    const network = await defaultPolicy(deps, caller.tenant)
    const wanted = { tenant: caller.tenant, subject: caller.subject, id, name, memoryTier: '1g', network } as const
    return createContainer(deps.table, wanted, deps.clock.now())
  })
  return container
}

function terminalOf(call: Call, container: Container): Terminal {
  call.note('container_id', container.id)
  const chat = chatOf(call)
  const kept = container.extensions?.[WIRE]
  const folder = (kept === undefined ? [] : Kept().parse(kept).folders).find((one) => one.chat === chat)?.path ?? HOME
  return { container, context: runContext(call), folder, pathOf: (given) => pathIn(folder, given) }
}

const pathIn = (folder: string, given: string): SandboxPath =>
  sandboxPath(given === '~' || given.startsWith('~/') ? given : posix.resolve(folder, given))

/** Remembers the folder of the chat. */
export async function enterFolder(call: Call, { container: { tenant, id } }: Terminal, path: string): Promise<void> {
  const chat = chatOf(call)
  if (chat === '') return
  await call.deps.table.containers.updateExtension({ tenant, id, wire: WIRE }, (stored) => {
    const { folders } = stored === undefined ? { folders: [] } : Kept().parse(stored)
    return { folders: [...folders.filter((one) => one.chat !== chat), { chat, path }].slice(-MAX_FOLDERS) }
  })
}
