import type { ExecutionSource } from '../../services/model/executions/execution.ts'

const ENTRY = { path: '/mnt/data/x', name: 'x', type: 'file', bytes: 1, modified_at: 1_700_000_000_000, mode: 420 } as const
const ANSWERS: Readonly<Record<string, unknown>> = {
  list: { entries: [ENTRY], is_truncated: false },
  stat: { entry: ENTRY },
  mkdir: { entry: { ...ENTRY, type: 'folder' }, is_new: true },
  move: { entry: ENTRY },
  remove: { removed: 1 },
  read: { data: 'eA==', bytes: 1 },
  preview: { entry: ENTRY, preview: { kind: 'text', lines: ['x'], is_truncated: false } },
  unpack: { files: 1, paths: ['/mnt/data/x'] },
}
/** What the program in the sandbox refuses. */
const ERROR_CODES = ['not_found', 'invalid', 'not_empty']

/** The output of a file operation of the API, as the program in a sandbox prints it; the path decides between success and the errors. Empty for other code. */
export function fileOperationOutput(source: ExecutionSource): string {
  if (source.kind !== 'command' || !source.argv.some((word) => word.endsWith('/file_operations.py'))) return ''
  const { op, path, from } = JSON.parse(source.argv.at(-1) ?? '{}') as {
    readonly op: string
    readonly path?: string
    readonly from?: string
  }
  const code = ERROR_CODES[(path ?? from ?? '').length % (ERROR_CODES.length + 1)]
  return JSON.stringify(code === undefined ? (ANSWERS[op] ?? {}) : { error: { code, message: 'The fuzzer refuses this path.' } })
}
