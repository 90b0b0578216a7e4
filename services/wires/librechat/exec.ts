import type { Execution } from '../../model/executions/execution.ts'
import { runCommand } from '../../operations/commands/run-command.ts'
import { runCode } from '../../operations/executions/run-code.ts'
import { RUN_ANSWER_BYTES } from '../../operations/executions/result-budget.ts'
import { checkSource } from '../../operations/executions/source.ts'
import { runContext, type Call } from '../../http/route.ts'
import { answerEnded, timeLimit } from './ended-run.ts'
import { bringInputs, renamedNotes } from './inputs.ts'
import { findLanguage, type WireLanguage } from './languages.ts'
import { outcome, outputFiles } from './result.ts'
import type { ExecBody } from './schema.ts'
import { findOrCreateSession } from './session.ts'

/** Runs code in the container of the hint, or in a new one with copies of the files. Failing code is an answer with status 200. */
export async function exec(call: Call<unknown, ExecBody>): Promise<Readonly<Record<string, unknown>>> {
  const { body } = call
  call.deps.results.reserve(RUN_ANSWER_BYTES)
  const hint = body.runtime_session_hint
  const { language, image } = await findLanguage(call, body.lang)
  const { container, isNew } = await findOrCreateSession(call, hint, image)
  const inputs = await bringInputs(call, container, body.files ?? [])
  const execution = await run(call, container.id, language)
  return answerEnded(call, execution, async (result) => {
    return {
      ...outcome(execution, result, renamedNotes(inputs)),
      session_id: container.id,
      ...(await outputFiles(call, container, { inputs, result })),
      ...(hint === undefined ? {} : { runtime_session_id: container.id, runtime_status: isNew ? 'new' : 'reused' }),
    }
  })
}

async function run(call: Call<unknown, ExecBody>, containerId: string, language: WireLanguage): Promise<Execution> {
  const { body, deps } = call
  const timeoutSeconds = await timeLimit(call, body.timeout)
  const waitMs = deps.config.maxHoldSeconds * 1000
  const context = runContext(call)
  const args = body.args ?? []
  if (language.kind === 'command')
    return (await runCommand(context, { containerId, ...language.command(body.code, args), timeoutSeconds, waitMs })).execution
  const prelude = args.length === 0 ? '' : `import sys; sys.argv = ${JSON.stringify(['main.py', ...args])}\n`
  return (await runCode(context, { containerId, source: checkSource({ code: prelude + body.code }), timeoutSeconds, waitMs })).execution
}
