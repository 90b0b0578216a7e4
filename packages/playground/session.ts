import { signal } from '@preact/signals'

/** The secret part of a link to a shared chat, when the page was opened by one: then it shows that chat and changes nothing. */
export const sharedToken = /^\/s\/([\w-]+)$/.exec(location.pathname)?.[1] ?? null

/** Null until the server has answered. */
export const isSignedIn = signal<boolean | null>(null)

/** What the key of the session may do. */
export const scopes = signal<readonly string[]>([])
/** Whether a person with both sees the administration instead of the chats. */
export const showsAdmin = signal(false)

/** A key for administration only has no chats. */
export const isAdminOnly = (): boolean => scopes.value.includes('admin') && !scopes.value.includes('run')
