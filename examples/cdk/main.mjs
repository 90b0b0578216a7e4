// A CDK app that deploys Cellblock into an existing environment: its VPC, KMS key, permissions boundary, web ACL and domain.
// npm install aws-cdk-lib constructs @cellblock/cdk && npx cdk deploy --all --app "node main.mjs"
import { Cellblock } from '@cellblock/cdk'
import { App, Stack } from 'aws-cdk-lib'
import { SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2'
import { ManagedPolicy } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'

const app = new App()
const shared = new Stack(app, 'Shared')

// Isolated subnets: no internet gateway, no NAT. Cellblock adds its endpoints and its DNS firewall to this VPC.
const vpc = new Vpc(shared, 'Vpc', {
  maxAzs: 2,
  natGateways: 0,
  createInternetGateway: false,
  subnetConfiguration: [
    { name: 'sandbox', subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 18 },
    { name: 'run', subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 24 },
  ],
})

export const cellblock = new Cellblock(app, 'Cellblock', {
  network: {
    vpc,
    sandboxSubnets: vpc.selectSubnets({ subnetGroupName: 'sandbox' }).subnets,
    runSubnets: vpc.selectSubnets({ subnetGroupName: 'run' }).subnets,
  },
  encryptionKey: new Key(shared, 'Key', { enableKeyRotation: true }),
  permissionsBoundary: ManagedPolicy.fromManagedPolicyName(shared, 'Boundary', 'developer-boundary'),
  settings: {
    stage: 'dev',
    sandboxes: { tiers: { '1g': { warm: 1 } }, images: ['slim'], architecture: 'ARM64', spotPercent: 70 },
    api: {
      customDomain: {
        name: 'code.example.com',
        certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/00000000-0000-0000-0000-000000000000',
      },
      webAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/example/00000000-0000-0000-0000-000000000000',
    },
    retention: { logDays: 90 },
    operations: { monthlyBudgetUsd: 100 },
  },
})
app.synth()
