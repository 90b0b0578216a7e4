import { ArnFormat, Stack } from 'aws-cdk-lib'
import { Effect, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { statementOf, type Access } from '../access.ts'

export interface WorkerRoleProps {
  readonly functionName: string
  readonly access: readonly Access[]
  /** In the VPC, Lambda makes network interfaces in the role's name. */
  readonly isInVpc?: boolean
}

/** What one function may do: this list, and writing its own log. No managed policy, nothing added later by a grant. */
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
    const log: Access = { actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resources: [logGroup] }
    const functionArn = stack.formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName: functionName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    })
    this.role = new Role(this, 'Resource', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `Cellblock: what ${functionName} may do`,
      inlinePolicies: {
        access: new PolicyDocument({
          statements: [...[log, ...access].map(statementOf), ...(isInVpc ? networkInterfaces(functionArn) : [])],
        }),
      },
    })
  }
}

export const logGroupName = (functionName: string): string => `/cellblock/${functionName}`

/** Lambda itself needs these; the second statement takes them away from the function's own code. */
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
      conditions: { ArnEquals: { 'lambda:SourceFunctionArn': functionArn } },
    }),
  ]
}
