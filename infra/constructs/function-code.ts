import { AssetHashType, DockerImage } from 'aws-cdk-lib'
import { Code } from 'aws-cdk-lib/aws-lambda'
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'

const BUNDLER = join(import.meta.dirname, '..', 'bundle', 'main.ts')

/** The bundle of an entry file, and of the tools of a folder beside it, made on this machine. The same content has the same hash, so an unchanged function is not deployed again. */
export const functionCode = (entry: string, toolsFolder?: string): Code => {
  const tools = toolsFolder === undefined ? [] : [toolsFolder]
  return Code.fromAsset(dirname(BUNDLER), {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: DockerImage.fromRegistry('never-used'),
      // Never run: it tells this asset from the others of the same folder.
      command: [entry, ...tools],
      local: {
        // Synthesis is synchronous and the bundler is not, so it has a process of its own.
        tryBundle: (outputFolder) => {
          execFileSync(process.execPath, [BUNDLER, entry, outputFolder, ...tools], { stdio: ['ignore', 'ignore', 'inherit'] })
          return true
        },
      },
    },
  })
}
