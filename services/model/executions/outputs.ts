/** MIME type of a reference to a part of a bundle that is stored as an object; nbformat defines none. */
export const REF_MIME = 'cellblock/ref'

/** The object that contains one large part of a bundle. The API converts it into `{url, bytes, mime}`. */
export interface OutputRef {
  readonly objectKey: string
  readonly bytes: number
  readonly mime: string
}

export type MimeBundle = Readonly<Record<string, unknown>>

/** The references of a bundle, which has one or several. */
export function refsOf(bundle: MimeBundle): readonly OutputRef[] {
  const found = bundle[REF_MIME]
  if (found === undefined || found === null) return []
  return (Array.isArray(found) ? found : [found]) as readonly OutputRef[]
}

/** nbformat 4.5 outputs. */
export type Output =
  | { readonly output_type: 'stream'; readonly name: 'stdout' | 'stderr'; readonly text: string }
  | { readonly output_type: 'display_data'; readonly data: MimeBundle; readonly metadata: Readonly<Record<string, unknown>> }
  | {
      readonly output_type: 'execute_result'
      readonly execution_count: number | null
      readonly data: MimeBundle
      readonly metadata: Readonly<Record<string, unknown>>
    }
  | { readonly output_type: 'error'; readonly ename: string; readonly evalue: string; readonly traceback: readonly string[] }

export interface CellResult {
  /** Position among the notebook's cells (0 for plain code). */
  readonly index: number
  readonly status: 'ok' | 'error' | 'aborted'
  readonly executionCount: number | null
  readonly outputs: readonly Output[]
}

export interface ExecutionError {
  readonly name: string
  readonly value: string
  readonly traceback: readonly string[]
}
