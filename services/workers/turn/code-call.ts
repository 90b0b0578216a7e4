import type { ObjectStore } from '../../ports/object-store.ts'
import { withInlineImages } from '../../operations/turns/inline-images.ts'
import { hasEventStream } from '../../model/responses/response.ts'
import { callCompleted, callInterpreting, type CodeItem } from '../../model/responses/items/code-interpreter-call.ts'
import type { ResponseItem } from '../../model/responses/items/item-types.ts'
import { itemOfType, type ContainerCall, type IndexedCall } from './container-call.ts'
import { buildCallOutcome } from './outcome/call-outcome.ts'
import { callStatusOf, isFailure } from './outcome/call-status.ts'
import { failedCall } from './outcome/failed-call.ts'
import { pythonTool } from './tools/python.ts'
import type { TurnView } from './turn-state.ts'

/** A call of the interpreter: one job, whose result is part of the item. */
export const codeCall: ContainerCall<CodeItem> = {
  type: 'code_interpreter_call',
  toolOf: () => pythonTool,
  argumentsOf: ({ code }) => ({ code }),
  begin: (_, { index, item }) => ({
    outputIndex: index,
    change: {
      items: [[index, { ...item, status: 'interpreting' }]],
      events: [{ payload: callInterpreting(index, item), priority: 'now' }],
    },
  }),
  reject: ({ state }, { index, item }, { reason, message }) => ({
    state: { consecutiveFailures: state.consecutiveFailures + 1 },
    finished: [[index, failedCall(item, reason, message)]],
  }),
  async record(deps, view, end) {
    const { itemIndex: index } = end.pending
    const called = itemOfType(view, index, 'code_interpreter_call')
    if ('rejection' in end) return codeCall.reject(view, { index, item: called }, end.rejection)
    const { execution } = end
    const outcome = await buildCallOutcome(deps, execution, view.row.request)
    const item: CodeItem = { ...called, status: callStatusOf(execution), outcome }
    const rendered = hasEventStream(view.row) ? await withImages(deps.objects, view, { index, item }) : item
    return {
      state: { consecutiveFailures: isFailure(execution) ? view.state.consecutiveFailures + 1 : 0 },
      events: item.status === 'completed' ? [{ payload: callCompleted(index, item), priority: 'soon' }] : [],
      finished: [[index, item, rendered]],
    }
  },
}

/** The item in its event, with its images as data URLs. */
async function withImages(objects: ObjectStore, { row, state }: TurnView, { index, item }: IndexedCall<CodeItem>): Promise<ResponseItem> {
  const items = await withInlineImages(objects, state.items.with(index, item), { include: row.request.include, only: index })
  return items[index] ?? item
}
