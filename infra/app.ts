import { App } from 'aws-cdk-lib'
import { join } from 'node:path'
import { imageTag } from '../scripts/setup/image-inputs.ts'
import { buildStacks } from './build-stacks.ts'
import { readConfig } from './config.ts'
import { toolTypesOf } from './tool-types.ts'

const app = new App()
const image = await imageTag(join(import.meta.dirname, '..', 'runtime-image'), 'plain')
const config = readConfig(app.node.tryGetContext('cellblock'))
buildStacks(app, config, image.slice(image.indexOf(':') + 1), await toolTypesOf(config))
app.synth()
