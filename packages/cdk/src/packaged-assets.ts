import { Code } from 'aws-cdk-lib/aws-lambda'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DeploymentAssets } from '../../../infra/assets.ts'

const FOLDER = import.meta.dirname

/** What the build of the package writes beside its script. */
export interface PackageManifest {
  /** Tool types that requests may name, without and with the web search. */
  readonly toolTypes: { readonly plain: readonly string[]; readonly webSearch: readonly string[] }
}

export const readManifest = (): PackageManifest => JSON.parse(readFileSync(join(FOLDER, 'manifest.json'), 'utf8')) as PackageManifest

/** The bundled functions, the page and the build contexts of the images, all in this package. */
export const packagedAssets: DeploymentAssets = {
  functionCode(name, toolsFolder) {
    if (toolsFolder !== undefined)
      throw new Error('The package has no bundler for tools.folder. Deploy from a checkout of Cellblock, or remove the setting.')
    return Code.fromAsset(join(FOLDER, 'functions', name))
  },
  uploadContext: () => ({ folder: join(FOLDER, 'upload-image'), remove: () => undefined }),
  images: { kind: 'built', folder: join(FOLDER, 'image') },
  siteFolder: join(FOLDER, 'site'),
}
