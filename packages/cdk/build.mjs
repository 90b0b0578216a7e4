// Bundles the construct, and writes what it deploys beside it: functions, the upload service, the build context of the images, the web page.
import { build } from 'esbuild'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundleFunction } from '../../infra/bundle/bundle-function.ts'
import { FUNCTION_ENTRIES } from '../../infra/function-name.ts'
import { toolTypesOf } from '../../infra/tool-types.ts'
import { prepareSite } from '../../infra/build/site-files.ts'
import { prepareImageContext } from '../../infra/build/image-context.ts'

const here = import.meta.dirname
const root = join(here, '..', '..')
const dist = join(here, 'dist')

await rm(dist, { recursive: true, force: true })
await mkdir(dist)
await build({
  entryPoints: [join(here, 'src', 'index.ts')],
  outfile: join(dist, 'index.js'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  external: ['aws-cdk-lib', 'constructs'],
  legalComments: 'eof',
  logLevel: 'warning',
})
await cp(join(here, 'src', 'declarations.d.ts'), join(dist, 'index.d.ts'))
for (const [name, entry] of Object.entries(FUNCTION_ENTRIES)) await bundleFunction(entry, join(dist, 'functions', name))
await bundleFunction('services/entries/aws/api/upload-server.ts', join(dist, 'upload-image'))
await bundleFunction('services/entries/aws/gateway/main.ts', join(dist, 'upload-image', 'gateway'))
await cp(join(root, 'infra', 'upload-image', 'Dockerfile'), join(dist, 'upload-image', 'Dockerfile'))
await prepareImageContext(join(root, 'runtime-image'), join(dist, 'image'))
await prepareSite(join(dist, 'site'), () => undefined)
const toolTypes = {
  plain: await toolTypesOf({ tools: { webSearch: false } }),
  webSearch: await toolTypesOf({ tools: { webSearch: true } }),
}
await writeFile(join(dist, 'manifest.json'), JSON.stringify({ toolTypes }))
