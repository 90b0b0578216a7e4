// Bundles the program with its dependencies, so that the published package needs no other. What one command needs is a separate file.
import { chmod, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'

const here = import.meta.dirname
const outdir = join(here, 'dist')
await rm(outdir, { recursive: true, force: true })
await build({
  entryPoints: { cellblock: join(here, 'src', 'main.ts') },
  outdir,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  banner: { js: '#!/usr/bin/env node' },
  legalComments: 'eof',
  logLevel: 'warning',
})
await chmod(join(outdir, 'cellblock.mjs'), 0o755)
