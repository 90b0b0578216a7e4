// `npm run test:noise`: one hostile tenant takes every parser, form of connection and pool in turn, while another one measures its requests.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readOptions, refuseOption } from '../../../scripts/read-options.ts'
import { ensureSandboxImage } from '../../../scripts/setup/sandbox-image.ts'
import { raisePriority } from '../../../services/entries/local/raise-priority.ts'
import { measureNoise, type NoiseFigure } from './measure-noise.ts'
import { noiseTable, tooNoisy } from './noise-table.ts'

const PAGE = join(import.meta.dirname, '../../../docs/tenancy.md')
const values = readOptions('test:noise', {
  seconds: { type: 'string', default: '5' },
  short: { type: 'boolean', default: false },
  only: { type: 'string' },
  storage: { type: 'string' },
  write: { type: 'boolean', default: false },
})
const windowMs = Number(values.seconds) * 1000
if (!(windowMs > 0)) refuseOption('test:noise', '--seconds accepts a number above 0.')
if (values.write && (values.only !== undefined || values.storage !== undefined))
  refuseOption('test:noise', '--write replaces the whole table. Leave out --only and --storage.')

// This process measures, and contains the emulated account. Both stand for other machines, so neither waits for the server, which has precedence too.
raisePriority()
const say = (line: string): void => void process.stderr.write(`${line}\n`)
await ensureSandboxImage(say)
const figures: { readonly storage: string; readonly of: readonly NoiseFigure[] }[] = []
for (const storage of values.storage === undefined ? ['embedded', 'aws'] : [values.storage]) {
  process.env['CELLBLOCK_STORAGE'] = storage
  say(`Storage: ${storage}`)
  // The parsers are the same on both storages, so each route is a separate form on one of them only.
  figures.push({
    storage,
    of: await measureNoise({
      windowMs,
      isWhole: !values.short && storage === 'embedded',
      isOneServer: values.short,
      only: values.only,
      say,
    }),
  })
}
const table = noiseTable(figures)
console.log(table)
if (values.write) {
  const page = await readFile(PAGE, 'utf8')
  await writeFile(PAGE, page.replace(/(<!-- noise -->\n)[\s\S]*?(<!-- \/noise -->)/, `$1\n${table}\n\n$2`))
}
const missed = figures.flatMap(({ storage, of }) =>
  of.flatMap((figure) => tooNoisy(figure).map((why) => `${storage}, ${figure.form}: ${why}`)),
)
for (const line of missed) console.log(line)
// The emulated account would keep the process.
process.exit(missed.length === 0 ? 0 : 1)
