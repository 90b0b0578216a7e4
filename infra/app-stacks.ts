import type { App } from 'aws-cdk-lib'
import { join } from 'node:path'
import { prepareSite } from './build/site-files.ts'
import { prepareImageContext } from './build/image-context.ts'
import { IMAGE_VARIANTS, imageTag, repositoryTag } from './build/image-inputs.ts'
import type { DeploymentAssets, ImageTags } from './assets.ts'
import { PROJECT } from './bundle/bundle-function.ts'
import { sourceAssets } from './bundle/source-assets.ts'
import { Cellblock, type Stacks } from './cellblock.ts'
import { readConfig, type Config } from './config.ts'
import { toolTypesOf } from './tool-types.ts'

const IMAGE_FOLDER = join(PROJECT, 'runtime-image')
const CACHE = join(PROJECT, '.cellblock')

/** Content hash of each image by its name. */
async function imageTags(): Promise<ImageTags> {
  const tags = IMAGE_VARIANTS.map(async (variant) => {
    const name = await imageTag(IMAGE_FOLDER, { variant })
    return [variant, repositoryTag(name)] as const
  })
  return Object.fromEntries(await Promise.all(tags)) as ImageTags
}

/** Images and page: with `pushed` the deploy command uploads both, otherwise the CDK does. What CodeBuild builds is never pushed. */
async function uploads(isPushed: boolean, { deployment }: Config): Promise<Pick<DeploymentAssets, 'images' | 'siteFolder'>> {
  const pushesImages = isPushed && deployment.imageBuilder === 'docker'
  return {
    images: pushesImages
      ? { kind: 'pushed', tags: await imageTags() }
      : { kind: 'built', folder: await prepareImageContext(IMAGE_FOLDER, join(CACHE, 'image-context')) },
    siteFolder: isPushed ? null : await prepareSite(join(CACHE, 'site'), () => undefined),
  }
}

/**
 * Builds the stacks from the app's context: `cellblock` has the settings, `cellblock-images=pushed` leaves images and page to the deploy command,
 * `cellblock-removes-data` prepares the data for deletion.
 */
export async function stacksOf(app: App): Promise<Stacks> {
  const settings: unknown = app.node.tryGetContext('cellblock')
  const config = readConfig(settings)
  const { stacks } = new Cellblock(app, 'Cellblock', {
    settings,
    assets: sourceAssets(await uploads(app.node.tryGetContext('cellblock-images') === 'pushed', config)),
    toolTypes: await toolTypesOf(config),
    removesData: app.node.tryGetContext('cellblock-removes-data') === 'true',
  })
  return stacks
}
