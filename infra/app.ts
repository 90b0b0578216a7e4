import { App } from 'aws-cdk-lib'
import { join } from 'node:path'
import { imageTag } from '../scripts/setup/image-inputs.ts'
import { buildStacks } from './build-stacks.ts'
import { readConfig } from './config.ts'

const app = new App()
const image = await imageTag(join(import.meta.dirname, '..', 'runtime-image'), 'plain')
buildStacks(app, readConfig(app.node.tryGetContext('cellblock')), image.slice(image.indexOf(':') + 1))
app.synth()
