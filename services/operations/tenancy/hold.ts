/** A call that stays open: a stream, or a wait for a result. */
export interface Hold {
  /** Aborts when the call has to stop waiting and answer; null if only the maximum time of a call ends it. */
  readonly signal: AbortSignal | null
  /** Ends the hold. Further calls have no effect. Never rejects. */
  release(): Promise<void>
}

/** Limits how many calls stay open. */
export interface Holds {
  /** Throws ServiceError `too_many_streams`, before the call has any effect. */
  take(tenant: string, kind: 'stream' | 'wait'): Promise<Hold>
  /** Open calls of all tenants, null where they are not known, and those of one. */
  used(tenant: string): Promise<{ readonly all: number | null; readonly own: number }>
}

/** For a wait that nothing limits, or inside a call that has a hold. */
export const NO_HOLD: Hold = { signal: null, release: async () => undefined }

/** Aborts when the client has disconnected or the hold is over. */
export const whileHeld = (signal: AbortSignal, hold: Hold): AbortSignal =>
  hold.signal === null ? signal : AbortSignal.any([signal, hold.signal])

/** For the waits inside a call that has this hold. */
export const within = ({ signal }: Hold): Holds => ({
  take: async () => ({ ...NO_HOLD, signal }),
  used: () => Promise.reject(new Error("A call does not know its tenant's open calls.")),
})
