// `npm run bench` measures every figure and its reference in one run.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureSandboxImage } from '../../scripts/setup/sandbox-image.ts'
import { writeHtmlReport } from '../../scripts/report/html-report.ts'
import { Cleanups } from './cleanups.ts'
import { benchHtml } from './html.ts'
import { readOptions, USAGE, type BenchOptions } from './options.ts'
import { BENCHES, BREAKDOWN } from './registry.ts'
import { reportText, type BenchReport } from './report.ts'
import { runBenches } from './run-benches.ts'

const RESULTS = join(import.meta.dirname, '../../bench/results')

const say = (line: string): void => void process.stderr.write(`${line}\n`)

async function main(options: BenchOptions): Promise<void> {
  const isWanted = (name: string): boolean =>
    name === BREAKDOWN ? options.isBreakdown || options.only.includes(name) : options.only.length === 0 || options.only.includes(name)
  const benches = BENCHES.filter(({ name }) => isWanted(name))
  const image = process.env['CELLBLOCK_SANDBOX_IMAGE'] ?? (await ensureSandboxImage(say))
  const cleanups = new Cleanups()
  cleanups.runOnSignals()
  try {
    const report = await runBenches(benches, { isQuick: options.isQuick, image, say, cleanups })
    process.stdout.write(options.isJson ? `${JSON.stringify(report)}\n` : `\n${reportText(report)}`)
    if (options.html !== undefined) say(await writeHtmlReport(options.html, benchHtml(report)))
    if (!options.isQuick && options.only.length === 0) await keep(report)
  } finally {
    await cleanups.run()
  }
}

/** The results of the last full run are committed, so that changes show as a diff. */
async function keep(report: BenchReport): Promise<void> {
  await mkdir(RESULTS, { recursive: true })
  await writeFile(join(RESULTS, 'latest.json'), `${JSON.stringify(report, null, 2)}\n`)
  await writeFile(join(RESULTS, 'latest.md'), `# Results of the last full run\n\n${reportText(report)}`)
  say(await writeHtmlReport(join(RESULTS, 'latest.html'), benchHtml(report)))
}

let options: BenchOptions | null = null
const args = process.argv.slice(2)
try {
  if (args.includes('--help')) process.stdout.write(USAGE)
  else options = readOptions(args)
} catch (error) {
  say(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  process.exitCode = 2
}
if (options !== null) {
  await main(options).catch((error: unknown) => {
    say(`✗ ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    process.exitCode = 1
  })
}
