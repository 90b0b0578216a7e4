// `npm run docs:build [-- FOLDER]`: the documentation as a static site, by default where `npm start` finds it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ensureDependencies } from '../setup/dependencies.ts'
import { readSetupConfig } from '../setup/config.ts'
import { SetupError } from '../setup/progress.ts'
import { findGuide } from './guide-folder.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const SITE = join(ROOT, 'site')
const VITEPRESS = join(SITE, 'node_modules', 'vitepress', 'bin', 'vitepress.js')

const folder = process.argv[2] ?? (await findGuide()).folder
const config = readSetupConfig()
console.error('Packages of the documentation: 100 MB, once')
try {
  console.error(await ensureDependencies(SITE, config, (line) => console.error(`  ${line}`)))
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error)
  process.exit(1)
}
await mkdir(dirname(folder), { recursive: true })
// A server that reads the folder meanwhile must not find half of it.
const temporary = await mkdtemp(join(dirname(folder), 'build-'))
try {
  const build = spawn(process.execPath, [VITEPRESS, 'build', SITE, '--outDir', temporary], { env: config.environment, stdio: 'inherit' })
  process.once('SIGTERM', () => build.kill('SIGTERM'))
  const [code] = (await once(build, 'exit')) as [number | null]
  if (code === 0) {
    await rm(folder, { recursive: true, force: true })
    await rename(temporary, folder)
    console.error(`The documentation is in ${folder}.`)
  }
  process.exitCode = code ?? 1
} finally {
  await rm(temporary, { recursive: true, force: true })
}
