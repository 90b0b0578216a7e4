// The app of `infra/app.ts` for an emulated account: the same stacks without resources that the emulator lacks, with the `emulated` profile.
import { App, CfnResource, CfnWaitConditionHandle } from 'aws-cdk-lib'
import { stacksOf } from '../../../infra/app-stacks.ts'

/** The emulator has no rules beside their security group. Nothing else is taken away: an unknown type fails the deployment. */
const NOT_EMULATED = ['AWS::EC2::SecurityGroupIngress']

const app = new App()
// DNS firewall, flow logs, budgets, dashboards: the emulator lacks them, and `cdk deploy --all` deploys every stack.
const { guard, operations, service } = await stacksOf(app)
// The network gateway's task, its network and the peering: its program runs beside the emulator (network-gateway.test.ts).
service.node.tryRemoveChild('Gateway')
for (const stack of [guard, operations]) {
  for (const child of stack.node.children) stack.node.tryRemoveChild(child.node.id)
  const nothing = new CfnWaitConditionHandle(stack, 'Nothing')
  nothing.overrideLogicalId('Nothing')
}
for (const construct of app.node.findAll()) {
  if (!(construct instanceof CfnResource)) continue
  if (NOT_EMULATED.includes(construct.cfnResourceType)) construct.node.scope?.node.tryRemoveChild(construct.node.id)
  if (construct.cfnResourceType === 'AWS::ECS::TaskDefinition')
    construct.addPropertyOverride('ContainerDefinitions.0.Environment.1.Value', 'emulated')
}
app.synth()
