// `npm run build:package -- NAME`: builds packages/NAME into its folder dist. npm calls it before it packs the package.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGES = join(import.meta.dirname, '../packages')
const names = readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' }).flatMap((path) => /^(\w+)\/build\.mjs$/.exec(path)?.[1] ?? [])
const [name = ''] = process.argv.slice(2)
if (names.includes(name)) await import(join(PACKAGES, name, 'build.mjs'))
else {
  console.error(`✗ ${name === '' ? 'No package was named' : `There is no package ${name}`}. Use one of ${names.join(', ')}.`)
  process.exitCode = 2
}
