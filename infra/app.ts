import { App } from 'aws-cdk-lib'
import { stacksOf } from './app-stacks.ts'

const app = new App()
await stacksOf(app)
app.synth()
