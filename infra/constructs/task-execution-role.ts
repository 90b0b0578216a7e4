import type { IRepository } from 'aws-cdk-lib/aws-ecr'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Stack } from 'aws-cdk-lib'
import type { Construct } from 'constructs'

/** Fargate pulls the sandbox image with this role before any code runs. The sandbox has no task role. */
export function createTaskExecutionRole(scope: Construct, repository: IRepository): Role {
  const { account, region } = Stack.of(scope)
  return new Role(scope, 'PullRole', {
    description: 'Cellblock: Fargate pulls the sandbox image, nothing else',
    assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': account }, ArnLike: { 'aws:SourceArn': `arn:aws:ecs:${region}:${account}:*` } },
    }),
    inlinePolicies: {
      pull: new PolicyDocument({
        statements: [
          new PolicyStatement({ actions: ['ecr:GetAuthorizationToken'], resources: ['*'] }),
          new PolicyStatement({
            actions: ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
            resources: [repository.repositoryArn],
          }),
        ],
      }),
    },
  })
}
