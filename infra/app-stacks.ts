import type { App } from 'aws-cdk-lib'
import { join } from 'node:path'
import { imageTag } from '../scripts/setup/image-inputs.ts'
import { buildStacks, type Stacks } from './build-stacks.ts'
import { readConfig } from './config.ts'
import { toolTypesOf } from './tool-types.ts'

/** Builds the stacks from the app's context: `cellblock` has the settings, `cellblock-removes-data` prepares the data for deletion. */
export async function stacksOf(app: App): Promise<Stacks> {
  const image = await imageTag(join(import.meta.dirname, '..', 'runtime-image'), { variant: 'slim' })
  const config = readConfig(app.node.tryGetContext('cellblock'))
  return buildStacks(app, config, image.slice(image.indexOf(':') + 1), {
    toolTypes: await toolTypesOf(config),
    removesData: app.node.tryGetContext('cellblock-removes-data') === 'true',
  })
}
