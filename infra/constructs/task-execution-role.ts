import type { IRepository } from 'aws-cdk-lib/aws-ecr'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'

/** Fargate pulls the sandbox image with this role before any code runs. The sandbox has no task role. */
export function createTaskExecutionRole(scope: Construct, repository: IRepository): Role {
  return new Role(scope, 'PullRole', {
    description: 'Cellblock: Fargate pulls the sandbox image, nothing else',
    // The trust policy that the AWS documentation gives for execution roles, which has no source conditions.
    assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com'),
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
