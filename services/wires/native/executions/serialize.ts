import { inlineOutput } from '../../../operations/executions/notebook-parts.ts'
import { queuePlace, type QueuePlace } from '../../../operations/executions/execution-slots.ts'
import { presigner, type Presign } from '../../../operations/files/presign.ts'
import type { Execution } from '../../../model/executions/execution.ts'
import { refsOf, type Output } from '../../../model/executions/outputs.ts'
import { LIMITS } from '../../../model/limits.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import { renderOutputs } from '../work/outputs.ts'
import { addressOf, iso, type Fields, type RenderDeps, type Rendered } from '../work/render-work.ts'
import { fitResult, type FittedResult, type InlineBudget } from './inline-outputs.ts'

/** The fields that only executions have: language, place in the queue, outputs within the budget. */
export async function executionFields(deps: RenderDeps, { row, result, soFar, options }: Rendered): Promise<Fields> {
  const { publicUrl, known, budget, isWhole = false } = options
  const address = addressOf(row, publicUrl)
  const left = budget ?? { bytes: isWhole ? LIMITS.maxInlineAnswerBytes : LIMITS.inlineAnswerBytes }
  const fitted = fitResult(result ?? { cells: [], error: null, ...soFar }, left, {
    whole: `${address}?inline=all`,
    part: (cell, output, mime) => `${address}/outputs/${cell}/${output}?type=${encodeURIComponent(mime)}`,
  })
  const cells = isWhole
    ? await deps.results.hold(Math.min(left.bytes, objectBytes(fitted.cells)), () => embedObjects(deps.objects, fitted.cells, left))
    : fitted.cells
  const [body, place] = await Promise.all([renderBody(row, cells, presigner(deps.objects, publicUrl)), queuePlace(deps, row, known)])
  return {
    language: row.language ?? 'python',
    ...renderPlace(place),
    ...body,
    stdout: fitted.stdout,
    stderr: fitted.stderr,
    error: fitted.error,
    ...(fitted.omitted.length === 0 ? {} : { omitted: fitted.omitted }),
  }
}

const renderPlace = (place: QueuePlace | null): Fields => ({
  ...(place !== null && { queue_position: place.position }),
  ...(place !== null && place.expectedStartAt !== null && { expected_start_at: iso(place.expectedStartAt) }),
})

/** Bytes of the parts that are stored as objects. */
const objectBytes = (cells: FittedResult['cells']): number =>
  cells
    .flatMap(({ outputs }) => outputs)
    .flatMap((output) => ('data' in output ? refsOf(output.data) : []))
    .reduce((sum, { bytes }) => sum + bytes, 0)

async function embedObjects(objects: ObjectStore, cells: FittedResult['cells'], budget: InlineBudget): Promise<FittedResult['cells']> {
  const embedded = []
  for (const cell of cells) {
    const outputs: Output[] = []
    for (const output of cell.outputs) outputs.push(await inlineOutput(objects, output, budget))
    embedded.push({ ...cell, outputs })
  }
  return embedded
}

async function renderBody(row: Execution, cells: FittedResult['cells'], presign: Presign): Promise<Fields> {
  if (row.source.kind !== 'notebook') return { outputs: await renderOutputs(cells[0]?.outputs ?? [], presign) }
  return {
    cells: await Promise.all(
      cells.map(async (cell) => ({
        index: cell.index,
        execution_count: cell.executionCount,
        status: cell.status,
        outputs: await renderOutputs(cell.outputs, presign),
      })),
    ),
  }
}
