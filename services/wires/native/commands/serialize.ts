import { commandSourceOf } from '../../../model/executions/work-kinds.ts'
import type { Fields, RenderDeps, Rendered } from '../work/render-work.ts'

/** The fields that only commands have. */
export async function commandFields(_: RenderDeps, { row, result, soFar }: Rendered): Promise<Fields> {
  const { argv, isBackground, pty } = commandSourceOf(row)
  const { stdout, stderr } = result ?? soFar
  return {
    argv,
    cwd: row.scope?.cwd ?? null,
    background: isBackground,
    pty,
    exit_code: result?.exit?.code ?? null,
    signal: result?.exit?.signal ?? null,
    stdout,
    stderr,
  }
}
