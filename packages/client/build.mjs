// Compiles the client to JavaScript and declarations in dist/.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const here = import.meta.dirname
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
rmSync(join(here, 'dist'), { recursive: true, force: true })
const { status } = spawnSync(process.execPath, [compiler, '--project', join(here, 'tsconfig.build.json')], { stdio: 'inherit' })
process.exitCode = status ?? 1
