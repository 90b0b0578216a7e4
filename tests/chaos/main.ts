// `npm run test:chaos`: every scenario in full, each history checked. `-- --json` prints the summary alone, `-- --only NAME` plays one, `-- --scale 0.1` less of it,
// `-- --keep FOLDER` keeps the histories with violations, `-- --mutants` breaks the guarantees as well, `-- --engine` restarts this machine's container engine.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkHistory, type Verdict } from './check-history.ts'
import { CHAOS_MUTANTS } from './mutants/mutants.ts'
import { runChaosMutants } from './mutants/run-mutants.ts'
import { SCENARIOS } from './scenarios/registry.ts'
import type { ScenarioResult } from './scenarios/scenario.ts'
import { rowOf, summaryOf } from './summary.ts'

const { values } = parseArgs({
  options: {
    json: { type: 'boolean' },
    only: { type: 'string' },
    scale: { type: 'string', default: '1' },
    engine: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    hurry: { type: 'boolean', default: false },
    keep: { type: 'string' },
  },
})
const names = values.only?.split(',')
const wanted = SCENARIOS.filter(({ name }) => names?.includes(name) ?? true)
if (wanted.length < (names?.filter((name) => name !== 'mutants').length ?? 1))
  throw new Error(`--only takes some of ${SCENARIOS.map(({ name }) => name).join(', ')}.`)
const scale = Number(values.scale)
if (!(scale > 0 && scale <= 1)) throw new Error('--scale takes a number above 0 and up to 1.')

const { engine: mayTouchEngine, hurry } = values
const say = (line: string): void => void process.stderr.write(`${line}\n`)
const played: { name: string; bars: readonly string[]; seconds: number; result: ScenarioResult; verdicts: readonly Verdict[] }[] = []
for (const scenario of wanted) {
  const began = performance.now()
  const result = await scenario.run({ scale, say, mayTouchEngine, hurry })
  const verdicts = result.histories.map((history) => checkHistory(history.entries))
  played.push({ ...scenario, result, verdicts, seconds: (performance.now() - began) / 1000 })
  for (const [index, { found }] of verdicts.entries())
    if (values.keep !== undefined && found.length > 0)
      await writeFile(
        join(values.keep, `${scenario.name}-${process.pid}-${index}.json`),
        JSON.stringify({ found, entries: result.histories[index]?.entries }),
      )
  for (const fault of result.faults) say(`✗ ${scenario.name}: ${fault}`)
  for (const { violation, about } of verdicts.flatMap(({ found }) => found).slice(0, 20)) say(`✗ ${scenario.name}: ${violation}: ${about}`)
}

const survivors = values.mutants ? await runChaosMutants(CHAOS_MUTANTS, say) : []
for (const survivor of survivors) say(`✗ nothing notices that this is gone: ${survivor}`)
const summary = summaryOf(played)
if (values.json === true) process.stdout.write(`${JSON.stringify(summary)}\n`)
else {
  process.stdout.write(
    '\n| scenario | bars | jobs | kills | operations | violations | figures | seconds |\n|---|---|---:|---:|---:|---:|---|---:|\n',
  )
  for (const one of played) process.stdout.write(rowOf(one))
  process.stdout.write(`\n${JSON.stringify(summary)}\n`)
}
if (survivors.length > 0 || summary.violations > 0 || played.some(({ result }) => result.faults.length > 0)) process.exitCode = 1
// A step that was held or killed in the middle may have left a timer.
setImmediate(() => process.exit())
