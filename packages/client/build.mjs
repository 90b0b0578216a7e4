// Writes dist/: one module of JavaScript with everything that it needs, and the declarations.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

const here = import.meta.dirname
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
rmSync(join(here, 'dist'), { recursive: true, force: true })
await build({
  entryPoints: [join(here, 'src', 'index.ts')],
  outfile: join(here, 'dist', 'index.js'),
  bundle: true,
  platform: 'neutral',
  target: 'es2023',
  mainFields: ['module', 'main'],
  format: 'esm',
  legalComments: 'eof',
  logLevel: 'warning',
})
const { status } = spawnSync(process.execPath, [compiler, '--project', join(here, 'tsconfig.build.json')], { stdio: 'inherit' })
process.exitCode = status ?? 1
