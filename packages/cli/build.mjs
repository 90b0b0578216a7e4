// Bundles the program with its dependencies into one file, so that the published package needs no other.
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'

const here = import.meta.dirname
const outfile = join(here, 'dist', 'cellblock.mjs')
await build({
  entryPoints: [join(here, 'src', 'main.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  banner: { js: '#!/usr/bin/env node' },
  legalComments: 'eof',
  logLevel: 'warning',
})
await chmod(outfile, 0o755)
