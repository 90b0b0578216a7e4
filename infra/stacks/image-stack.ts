import { CfnOutput, RemovalPolicy, type StackProps } from 'aws-cdk-lib'
import { Repository, RepositoryEncryption, TagMutability } from 'aws-cdk-lib/aws-ecr'
import { BUILT_IN_IMAGES, type BuiltInImage } from '../../services/model/containers/images.ts'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { RemoteBuilds, sandboxPlatform } from '../constructs/remote-builds.ts'
import { FlaggedStack } from './flagged-stack.ts'

export interface ImageStackProps extends StackProps {
  readonly config: Config
  /** Build context of the sandbox images, which CodeBuild builds. Null: they are pushed into the repository. */
  readonly folder: string | null
}

/** The repository of the sandbox image. A separate stack, because the image is pushed or built between it and the service. Tags are immutable. */
export class ImageStack extends FlaggedStack {
  readonly repository: Repository
  /** Null: this machine builds the images. */
  readonly builds: RemoteBuilds | null
  /** Tags of the images that CodeBuild builds, by name. */
  readonly builtTags: Readonly<Partial<Record<BuiltInImage, string>>>

  constructor(scope: Construct, id: string, { config, folder, ...props }: ImageStackProps) {
    super(scope, id, props)
    const { stage, sandboxes } = config
    this.repository = new Repository(this, 'Sandbox', {
      repositoryName: `cellblock-${stage}/sandbox`,
      imageTagMutability: TagMutability.IMMUTABLE,
      imageScanOnPush: true,
      encryption: RepositoryEncryption.AES_256,
      // A rule per image: one count for all would expire the unchanged image of a task definition after many pushes of others.
      lifecycleRules: [...BUILT_IN_IMAGES, ...(folder === null ? [] : ['api'])].map((name) => ({
        description: `the last ten builds of ${name}`,
        tagPatternList: [`*-${name}`],
        maxImageCount: 10,
      })),
      removalPolicy: RemovalPolicy.DESTROY,
      emptyOnDelete: true,
    })
    new CfnOutput(this, 'RepositoryUri', { value: this.repository.repositoryUri })
    const builds = folder === null ? null : new RemoteBuilds(this, 'Builds', { config, repository: this.repository })
    this.builds = builds
    const platform = sandboxPlatform(sandboxes)
    this.builtTags =
      builds === null || folder === null
        ? {}
        : Object.fromEntries(
            sandboxes.images.map((name) => [name, builds.build({ name, folder, platform, buildArguments: { VARIANT: name } })]),
          )
  }
}
