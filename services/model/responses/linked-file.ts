import type { ExecutionFile } from '../files/file.ts'

/** A file with a long-lived link; `linkId` revokes it. */
export type LinkedFile = ExecutionFile & { readonly url: string; readonly linkId?: string }
