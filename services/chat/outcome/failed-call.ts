import type { CodeItem } from '../../core/responses/item-events.ts'

/** A call that never became an execution. The model reads why. */
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
