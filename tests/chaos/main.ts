// `npm run test:chaos`: every scenario in full, each history checked. `-- --json` prints the summary alone, `-- --only NAME` plays one, `-- --scale 0.1` less of it.
import { parseArgs } from 'node:util'
import { checkHistory, type Verdict } from './check-history.ts'
import { SCENARIOS } from './scenarios/registry.ts'
import type { ScenarioResult } from './scenarios/scenario.ts'
import { rowOf, summaryOf } from './summary.ts'

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, only: { type: 'string' }, scale: { type: 'string', default: '1' }, engine: { type: 'boolean' } },
})
const wanted = SCENARIOS.filter(({ name }) => values.only === undefined || values.only.split(',').includes(name))
if (wanted.length === 0) throw new Error(`--only takes some of ${SCENARIOS.map(({ name }) => name).join(', ')}.`)
const scale = Number(values.scale)
if (!(scale > 0 && scale <= 1)) throw new Error('--scale takes a number above 0 and up to 1.')

const say = (line: string): void => void process.stderr.write(`${line}\n`)
const played: { name: string; bars: readonly string[]; seconds: number; result: ScenarioResult; verdicts: readonly Verdict[] }[] = []
for (const scenario of wanted) {
  const began = performance.now()
  const result = await scenario.run({ scale, say, mayTouchEngine: values.engine === true })
  const verdicts = result.histories.map((history) => checkHistory(history.entries))
  played.push({ ...scenario, result, verdicts, seconds: (performance.now() - began) / 1000 })
  for (const fault of result.faults) say(`✗ ${scenario.name}: ${fault}`)
  for (const { violation, about } of verdicts.flatMap(({ found }) => found).slice(0, 20)) say(`✗ ${scenario.name}: ${violation}: ${about}`)
}

const summary = summaryOf(played)
if (values.json === true) process.stdout.write(`${JSON.stringify(summary)}\n`)
else {
  process.stdout.write(
    '\n| scenario | bars | jobs | kills | operations | violations | figures | seconds |\n|---|---|---:|---:|---:|---:|---|---:|\n',
  )
  for (const one of played) process.stdout.write(rowOf(one))
  process.stdout.write(`\n${JSON.stringify(summary)}\n`)
}
if (summary.violations > 0 || played.some(({ result }) => result.faults.length > 0)) process.exitCode = 1
// A step that was held or killed in the middle may have left a timer.
setImmediate(() => process.exit())
