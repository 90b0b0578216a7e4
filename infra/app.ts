import { App } from 'aws-cdk-lib'
import { buildStacks } from './build-stacks.ts'
import { readConfig } from './config.ts'

const app = new App()
buildStacks(app, readConfig(app.node.tryGetContext('cellblock')))
app.synth()
