import { ArnFormat, Stack } from 'aws-cdk-lib'
import { Effect, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { toPolicyStatement, type IamAccess } from '../iam-statements.ts'

export interface WorkerRoleProps {
  readonly functionName: string
  readonly access: readonly IamAccess[]
  /** In a VPC, Lambda creates network interfaces with the role. */
  readonly isInVpc?: boolean
}

/** The role of one function: these permissions and its own log. No managed policy, no later grants. */
export class WorkerRole extends Construct {
  readonly role: Role

  constructor(scope: Construct, id: string, { functionName, access, isInVpc = false }: WorkerRoleProps) {
    super(scope, id)
    const stack = Stack.of(this)
    const logGroup = stack.formatArn({
      service: 'logs',
      resource: 'log-group',
      resourceName: `${logGroupName(functionName)}:*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    })
    const log: IamAccess = { actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resources: [logGroup] }
    const functionArn = stack.formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName: functionName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    })
    this.role = new Role(this, 'Resource', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `Cellblock: permissions of ${functionName}`,
      inlinePolicies: {
        access: new PolicyDocument({
          statements: [...[log, ...access].map(toPolicyStatement), ...(isInVpc ? networkInterfaces(functionArn) : [])],
        }),
      },
    })
  }
}

export const logGroupName = (functionName: string): string => `/cellblock/${functionName}`

/** Lambda needs these permissions; the second statement denies them to the function's code. */
function networkInterfaces(functionArn: string): PolicyStatement[] {
  const actions = [
    'CreateNetworkInterface',
    'DescribeNetworkInterfaces',
    'DescribeSubnets',
    'DeleteNetworkInterface',
    'AssignPrivateIpAddresses',
    'UnassignPrivateIpAddresses',
  ].map((verb) => `ec2:${verb}`)
  return [
    new PolicyStatement({ sid: 'LambdaMakesInterfaces', actions, resources: ['*'] }),
    new PolicyStatement({
      sid: 'CodeDoesNot',
      effect: Effect.DENY,
      actions,
      resources: ['*'],
      // A published version has its number at the end.
      conditions: { ArnEquals: { 'lambda:SourceFunctionArn': [functionArn, `${functionArn}:*`] } },
    }),
  ]
}
