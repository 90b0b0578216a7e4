// `npm run docs:build`: the documentation as a static site, in `.cellblock/guide`, where the running server finds it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { ensureDependencies } from '../setup/dependencies.ts'
import { readSetupConfig } from '../setup/config.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const SITE = join(ROOT, 'site')
const folder = process.argv[2] ?? join(ROOT, '.cellblock', 'guide')

const config = readSetupConfig()
console.log('Packages of the documentation: 100 MB, once')
console.log(await ensureDependencies(SITE, config, (line) => console.log(`  ${line}`)))
const build = spawn(process.execPath, [join(SITE, 'node_modules', 'vitepress', 'bin', 'vitepress.js'), 'build', SITE, '--outDir', folder], {
  env: config.environment,
  stdio: 'inherit',
})
const [code] = (await once(build, 'exit')) as [number | null]
if (code === 0) console.log(`\nThe documentation is in ${folder}. npm start serves it at /docs/guide/.`)
process.exitCode = code ?? 1
