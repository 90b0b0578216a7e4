import { build } from 'esbuild'
import { join } from 'node:path'
import { toolFiles } from '../../services/chat/tools/load-tools.ts'
import { BUNDLE_OPTIONS, PROJECT } from './bundle-function.ts'

/** Where a function finds the tools beside its own code. */
export const TOOLS_IN_BUNDLE = 'tools'

/** Writes `<outputFolder>/tools/<name>.mjs` for each tool file of a folder of the project, with all that it imports inside. */
export async function bundleTools(folder: string, outputFolder: string): Promise<void> {
  await build({
    ...BUNDLE_OPTIONS,
    entryPoints: [...(await toolFiles(join(PROJECT, folder)))],
    outdir: join(outputFolder, TOOLS_IN_BUNDLE),
    outExtension: { '.js': '.mjs' },
    // What an operator uses may still call `require`.
    banner: { js: "import{createRequire as cellblockRequire}from'node:module';const require=cellblockRequire(import.meta.url);" },
  })
}
