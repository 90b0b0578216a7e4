import { AssetHashType, DockerImage } from 'aws-cdk-lib'
import { Code } from 'aws-cdk-lib/aws-lambda'
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'

const BUNDLER = join(import.meta.dirname, 'main.ts')

/** Bundles an entry file and the tools of a folder on this machine. The asset hash is the content's, so an unchanged function is not redeployed. */
export const functionCode = (entry: string, toolsFolder?: string): Code => {
  const tools = toolsFolder === undefined ? [] : [toolsFolder]
  return Code.fromAsset(dirname(BUNDLER), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: DockerImage.fromRegistry('never-used'),
      // Never runs: it distinguishes this asset from others of the same folder.
      command: [entry, ...tools],
      local: {
        // Synthesis is synchronous and the bundler is not, so the bundler runs in a child process.
        tryBundle: (outputFolder) => {
          execFileSync(process.execPath, [BUNDLER, entry, outputFolder, ...tools], { stdio: ['ignore', 'ignore', 'inherit'] })
          return true
        },
      },
    },
  })
}
