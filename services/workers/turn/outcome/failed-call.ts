import type { CodeItem } from '../../../model/responses/items/code-interpreter-call.ts'

/** A call that did not become an execution. The model receives the reason. */
export const failedCall = (item: CodeItem, reason: string, why: string): CodeItem => ({
  ...item,
  status: 'failed',
  outcome: {
    executionId: null,
    status: 'failed',
    reason,
    logs: '',
    images: [],
    files: [],
    lost: [],
    error: null,
    usage: null,
    outputs: [],
    modelText: `error: ${why}`,
  },
})
