import { signal } from '@preact/signals'

/** Null until the server has answered. */
export const isSignedIn = signal<boolean | null>(null)

/** What the key of the session may do. */
export const scopes = signal<readonly string[]>([])
/** Whether a person with both sees the administration instead of the chats. */
export const showsAdmin = signal(false)

/** A key for administration only has no chats. */
export const isAdminOnly = (): boolean => scopes.value.includes('admin') && !scopes.value.includes('run')
