import { CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { Repository, RepositoryEncryption, TagMutability } from 'aws-cdk-lib/aws-ecr'
import type { Construct } from 'constructs'

export interface ImageStackProps extends StackProps {
  readonly stage: string
}

/** The repository of the sandbox image. A separate stack, because the image is pushed between it and the service. Tags are immutable. */
export class ImageStack extends Stack {
  readonly repository: Repository

  constructor(scope: Construct, id: string, { stage, ...props }: ImageStackProps) {
    super(scope, id, props)
    this.repository = new Repository(this, 'Sandbox', {
      repositoryName: `cellblock-${stage}/sandbox`,
      imageTagMutability: TagMutability.IMMUTABLE,
      imageScanOnPush: true,
      encryption: RepositoryEncryption.AES_256,
      lifecycleRules: [{ description: 'the last ten builds', maxImageCount: 10 }],
      removalPolicy: RemovalPolicy.DESTROY,
      emptyOnDelete: true,
    })
    new CfnOutput(this, 'RepositoryUri', { value: this.repository.repositoryUri })
  }
}
