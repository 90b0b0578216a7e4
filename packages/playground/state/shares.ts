import { signal } from '@preact/signals'
import { call, messageOf } from '../api/call.ts'
import { currentChat } from './chats.ts'

export interface Share {
  readonly id: string
  readonly created_at: string
  readonly expires_at: string
}

/** The links of the chat that is shown. */
export const shares = signal<readonly Share[]>([])
/** The address of the link that was made last: the server shows it once. */
export const newAddress = signal<string | null>(null)
export const sharesFailure = signal<string | null>(null)

const path = (): string => `/v1/conversations/${currentChat.value.id}/shares`

async function attempt(act: () => Promise<void>): Promise<void> {
  sharesFailure.value = null
  await act().catch((error: unknown) => (sharesFailure.value = messageOf(error)))
}

const refresh = async (): Promise<void> => void (shares.value = (await call<{ readonly data: readonly Share[] }>(path())).data)

export function openShares(): Promise<void> {
  newAddress.value = null
  shares.value = []
  return attempt(refresh)
}

export const createShare = (days: number): Promise<void> =>
  attempt(async () => {
    newAddress.value = (await call<{ readonly url: string }>(path(), { body: { expires_in_days: days } })).url
    await refresh()
  })

export const revokeShare = (id: string): Promise<void> =>
  attempt(async () => {
    await call(`${path()}/${id}`, { method: 'DELETE' })
    newAddress.value = null
    await refresh()
  })
