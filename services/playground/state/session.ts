import { signal } from '@preact/signals'

/** Null until the server has answered. */
export const isSignedIn = signal<boolean | null>(null)
