import { signal } from '@preact/signals'
import { call, messageOf } from '../api/call.ts'
import type { List } from '../api/types.ts'
import { currentChat } from './chats.ts'
import { filesPanel } from './preferences.ts'

interface NetworkRequest {
  readonly id: string
  readonly at: string
  readonly host: string
  readonly method: string
  readonly path: string
  readonly status: number | null
  readonly decision: 'allowed' | 'refused'
  readonly reason: string | null
}

/** What the container of the chat may reach. */
export interface ChatNetwork {
  readonly allow: readonly { readonly host: string }[]
  readonly presets: readonly string[]
  readonly secrets: readonly string[]
  readonly bytes: number | null
  readonly hosts: readonly string[]
  /** What the operator allows to the account. */
  readonly ceiling: readonly string[]
  readonly is_enabled: boolean
}

export const isNetworkOpen = signal(false)
export const network = signal<ChatNetwork | null>(null)
/** The latest ones first. */
export const requests = signal<readonly NetworkRequest[]>([])
export const networkFailure = signal<string | null>(null)

const SHOWN = 100
const pathOf = (containerId: string): string => `/v1/containers/${containerId}/network`

/** The panel is part of the files panel. */
export function showNetwork(): void {
  filesPanel.value = 'open'
  isNetworkOpen.value = true
}

/** Reads what the chat may reach and what its code requested. */
export async function refreshNetwork(): Promise<void> {
  const { containerId } = currentChat.value
  if (containerId === null) return
  try {
    const [policy, made] = await Promise.all([
      call<ChatNetwork>(pathOf(containerId)),
      call<List<NetworkRequest>>(`${pathOf(containerId)}/requests?limit=${SHOWN}&order=desc`),
    ])
    if (currentChat.value.containerId !== containerId) return
    network.value = policy
    requests.value = made.data
    networkFailure.value = null
  } catch (error) {
    networkFailure.value = messageOf(error)
  }
}

/** Allows a host to the code of this chat, within what the operator allows. */
export async function allowHost(host: string): Promise<void> {
  const { containerId } = currentChat.value
  const before = network.value
  if (containerId === null || before === null) return
  const { allow, presets, secrets, bytes } = before
  const body = { allow: [...allow, { host }], presets, secrets, ...(bytes !== null && { bytes }) }
  try {
    await call(pathOf(containerId), { method: 'PUT', body })
    await refreshNetwork()
  } catch (error) {
    networkFailure.value = messageOf(error)
  }
}

/** Whether a pattern of a policy has the host. */
const matches = (pattern: string, host: string): boolean =>
  pattern === '*' || pattern === host || (pattern.startsWith('*.') && host.endsWith(pattern.slice(1)))

export interface RefusedHost {
  readonly host: string
  readonly reason: string
  /** `chat`: the person can allow it. `operator`: only the operator can. `rule`: its methods or paths are bounded. */
  readonly allowedBy: 'chat' | 'operator' | 'rule'
}

/** Refused hosts that the latest requests named, each once, with who can allow it. */
export function refusedHosts({ hosts, ceiling }: ChatNetwork): readonly RefusedHost[] {
  const reasons = new Map(requests.value.filter(({ decision }) => decision === 'refused').map(({ host, reason }) => [host, reason ?? '']))
  return [...reasons].map(([host, reason]) => {
    const isIn = (patterns: readonly string[]): boolean => patterns.some((pattern) => matches(pattern, host))
    return { host, reason, allowedBy: !isIn(ceiling) ? 'operator' : isIn(hosts) ? 'rule' : 'chat' }
  })
}
