// `npm run test:programs -- --variant standard [--only TEXT] [--sample N] [--width N] [--shared N] [--json]`: runs realistic programs in the image and prints a pass table. With
// `--shared 20` twenty programs use one container, one after another: much faster, and a program that does not pass there runs again in a new one.
import { readOptions, refuseOption } from '../../scripts/read-options.ts'
import { ensureSandboxImage } from '../../scripts/setup/sandbox-image.ts'
import { IMAGE_VARIANTS } from '../../infra/build/image-inputs.ts'
import { startServer } from '../support/local-server.ts'
import { readPrograms, runsOn, sampleOf } from './parse-programs.ts'
import { runPrograms, type ProgramResult } from './run-programs.ts'

const {
  variant: name,
  only,
  json,
  sample,
  shared,
  width,
} = readOptions('test:programs', {
  variant: { type: 'string', default: 'slim' },
  only: { type: 'string' },
  json: { type: 'boolean', default: false },
  sample: { type: 'string', default: 'Infinity' },
  shared: { type: 'string', default: '1' },
  width: { type: 'string', default: '2' },
})
const variant = IMAGE_VARIANTS.find((known) => known === name)
if (variant === undefined) refuseOption('test:programs', `--variant accepts ${IMAGE_VARIANTS.join(', ')}.`)

const image = await ensureSandboxImage((line) => console.error(line), { variant })
const possible = (await readPrograms()).filter(
  (program) => runsOn(program, variant) && (only === undefined || `${program.category}: ${program.title}`.includes(only)),
)
const wanted = sampleOf(possible, Number(sample))
let ended = 0
const server = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: image, SANDBOX_PRELOAD: '', CELLBLOCK_POOL: '2' } })
try {
  const results = await runPrograms(server, wanted, { width: Number(width), shared: Number(shared), onResult: print })
  if (json) console.log(JSON.stringify(results, null, 1))
  else printTable(results)
  if (results.some(({ wrong }) => wrong.length > 0)) process.exitCode = 1
} finally {
  await server.stop()
}

function print({ program, wrong }: ProgramResult): void {
  ended += 1
  if (ended % 20 === 0) console.error(`${ended} of ${wanted.length}`)
  if (wrong.length > 0) console.error(`✗ ${program.category}: ${program.title}\n    ${wrong.join('\n    ')}`)
}

function printTable(results: readonly ProgramResult[]): void {
  const categories = [...new Set(results.map(({ program }) => program.category))].toSorted()
  console.log(`| Category | Passed | Programs |\n|---|---|---|`)
  for (const category of categories) {
    const mine = results.filter(({ program }) => program.category === category)
    console.log(`| ${category} | ${mine.filter(({ wrong }) => wrong.length === 0).length} | ${mine.length} |`)
  }
  console.log(`\n${variant}: ${results.filter(({ wrong }) => wrong.length === 0).length} of ${results.length} programs as expected`)
}
