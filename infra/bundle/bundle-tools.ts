import { build } from 'esbuild'
import { join } from 'node:path'
import { toolFiles } from '../../services/adapters/tools/load-tools.ts'
import { TOOLS_IN_BUNDLE } from '../function-name.ts'
import { BUNDLE_OPTIONS, PROJECT } from './bundle-function.ts'

/** Writes `<outputFolder>/tools/<name>.mjs` for each tool file of a folder of the project, dependencies included. */
export async function bundleTools(folder: string, outputFolder: string): Promise<void> {
  await build({
    ...BUNDLE_OPTIONS,
    entryPoints: [...(await toolFiles(join(PROJECT, folder)))],
    outdir: join(outputFolder, TOOLS_IN_BUNDLE),
    outExtension: { '.js': '.mjs' },
    // An operator's tool may use a package that calls `require`.
    banner: { js: "import{createRequire as cellblockRequire}from'node:module';const require=cellblockRequire(import.meta.url);" },
  })
}
