import { isJson, type AnswerStream } from './answer/answer-stream.ts'
import type { OfferedTools } from './tools/offered-tools.ts'
import type { Entry } from '../../model/responses/items/entry.ts'

/** Calls that became no item, each with a result that tells the model why. */
export function rejectedCallEntries(answer: AnswerStream, offered: OfferedTools): readonly Entry[] {
  const names = offered.tools.map((tool) => tool.name).join(', ') || 'none'
  return answer.rejectedCalls.flatMap(({ call, problem }): Entry[] => {
    const why =
      problem === null
        ? `There is no tool ${JSON.stringify(call.name)}. Tools that exist: ${names}.`
        : `The call cannot be used: ${problem}. Call the tool again.`
    return [
      { kind: 'call', call: { ...call, arguments: isJson(call.arguments) ? call.arguments : '{}' } },
      { kind: 'result', callId: call.id, text: `error: ${why}` },
    ]
  })
}
