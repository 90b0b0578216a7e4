// The app of `infra/app.ts` for an emulated account: the same stacks without resources that the emulator lacks, with the `emulated` profile.
import { App, CfnResource } from 'aws-cdk-lib'
import { stacksOf } from '../../../infra/app-stacks.ts'

/** The emulator has no rules beside their security group. Nothing else is taken away: an unknown type fails the deployment. */
const NOT_EMULATED = ['AWS::EC2::SecurityGroupIngress']

const app = new App()
await stacksOf(app)
for (const construct of app.node.findAll()) {
  if (!(construct instanceof CfnResource)) continue
  if (NOT_EMULATED.includes(construct.cfnResourceType)) construct.node.scope?.node.tryRemoveChild(construct.node.id)
  if (construct.cfnResourceType === 'AWS::ECS::TaskDefinition')
    construct.addPropertyOverride('ContainerDefinitions.0.Environment.1.Value', 'emulated')
}
app.synth()
