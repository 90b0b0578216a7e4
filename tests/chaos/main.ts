// `npm run test:chaos` runs every scenario in full and checks each history. `-- --storage aws` uses the AWS adapters on emulators. `-- --json` prints only the summary, `-- --only NAME` runs one scenario,
// `-- --scale 0.1` runs a tenth, `-- --keep FOLDER` saves histories with violations, `-- --mutants` also tests the mutants, `-- --html FILE` also
// writes a report with charts, `-- --engine` restarts this machine's container engine.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RunProgress } from '../../scripts/progress/run-progress.ts'
import { readOptions, refuseOption } from '../../scripts/read-options.ts'
import { writeHtmlReport } from '../../scripts/report/html-report.ts'
import { checkHistory, type Verdict } from './check-history.ts'
import { chaosHtml } from './html.ts'
import { CHAOS_MUTANTS } from './mutants/mutants.ts'
import { runChaosMutants } from './mutants/run-mutants.ts'
import { SCENARIOS } from './scenarios/registry.ts'
import type { ScenarioResult } from './scenarios/scenario.ts'
import { rowOf, summaryOf } from './summary.ts'

const values = readOptions('test:chaos', {
  json: { type: 'boolean' },
  storage: { type: 'string', default: 'embedded' },
  only: { type: 'string' },
  scale: { type: 'string', default: '1' },
  engine: { type: 'boolean', default: false },
  mutants: { type: 'boolean', default: false },
  'fail-fast': { type: 'boolean', default: false },
  keep: { type: 'string' },
  html: { type: 'string' },
})
const { storage } = values
if (storage !== 'embedded' && storage !== 'aws') refuseOption('test:chaos', '--storage accepts embedded and aws.')
// The harness and the servers of the scenarios read it.
process.env['CELLBLOCK_STORAGE'] = storage
const names = values.only?.split(',')
const selected = SCENARIOS.filter(({ name }) => names?.includes(name) ?? true)
if (selected.length < (names?.filter((name) => name !== 'mutants').length ?? 1))
  refuseOption('test:chaos', `--only accepts ${SCENARIOS.map(({ name }) => name).join(', ')} and mutants.`)
const scale = Number(values.scale)
if (!(scale > 0 && scale <= 1)) refuseOption('test:chaos', '--scale accepts a number above 0 and at most 1.')

const { engine: allowEngineRestart } = values
const failFast = values['fail-fast']
const log = (line: string): void => void process.stderr.write(`${line}\n`)
const runs: { name: string; thresholds: readonly string[]; seconds: number; result: ScenarioResult; verdicts: readonly Verdict[] }[] = []
const progress = new RunProgress({ kind: `chaos ${storage} ${scale}`, parts: selected.map(({ name }) => name), say: log })
for (const scenario of selected) {
  const startedAt = performance.now()
  const result = await progress.run(() => scenario.run({ scale, log, allowEngineRestart, failFast }))
  const verdicts = result.histories.map((history) => checkHistory(history.entries))
  runs.push({ ...scenario, result, verdicts, seconds: (performance.now() - startedAt) / 1000 })
  for (const [index, { violations }] of verdicts.entries())
    if (values.keep !== undefined && violations.length > 0)
      await writeFile(
        join(values.keep, `${scenario.name}-${process.pid}-${index}.json`),
        JSON.stringify({ violations, entries: result.histories[index]?.entries }),
      )
  for (const failure of result.failures) log(`✗ ${scenario.name}: ${failure}`)
  for (const { violation, detail } of verdicts.flatMap(({ violations }) => violations).slice(0, 20))
    log(`✗ ${scenario.name}: ${violation}: ${detail}`)
}

const survivors = values.mutants ? await runChaosMutants(CHAOS_MUTANTS, storage, log) : []
for (const survivor of survivors) log(`✗ no test fails without: ${survivor}`)
const summary = { storage, ...summaryOf(runs) }
if (values.json === true) process.stdout.write(`${JSON.stringify(summary)}\n`)
else {
  process.stdout.write(
    '\n| scenario | thresholds | jobs | kills | operations | violations | figures | seconds |\n|---|---|---:|---:|---:|---:|---|---:|\n',
  )
  for (const one of runs) process.stdout.write(rowOf(one))
  process.stdout.write(`\n${JSON.stringify(summary)}\n`)
}
if (values.html !== undefined) {
  const about = [`${new Date().toISOString()} · storage: ${storage} · scale ${scale}`]
  log(await writeHtmlReport(values.html, chaosHtml(runs, about)))
}
if (survivors.length > 0 || summary.violations > 0 || runs.some(({ result }) => result.failures.length > 0)) process.exitCode = 1
// A paused or killed step may have left a timer.
setImmediate(() => process.exit())
