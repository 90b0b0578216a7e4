import { CustomResource, Duration, RemovalPolicy } from 'aws-cdk-lib'
import { BuildSpec, ComputeType, LinuxArmBuildImage, LinuxBuildImage, Project } from 'aws-cdk-lib/aws-codebuild'
import type { IRepository } from 'aws-cdk-lib/aws-ecr'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Asset } from 'aws-cdk-lib/aws-s3-assets'
import { Provider } from 'aws-cdk-lib/custom-resources'
import { Construct } from 'constructs'
import { OFFICIAL_BASE_IMAGE } from '../build/official-base-image.ts'
import type { Config } from '../config.ts'
import { IMAGE_BUILD_HANDLER } from './image-build-handler.ts'

/** Docker Hub limits pulls by address, and builds share addresses with other accounts. ECR has the same images under the same digests. */
const BASE_IMAGE = `public.ecr.aws/docker/library/${OFFICIAL_BASE_IMAGE}`
const TAG_LENGTH = 12
const LONGEST_BUILD = Duration.hours(1)

const BUILD_SPEC = {
  version: '0.2',
  phases: {
    pre_build: { commands: ['aws ecr get-login-password | docker login --username AWS --password-stdin "${REPOSITORY%%/*}"'] },
    build: {
      commands: ['docker build --platform "$PLATFORM" $BUILD_ARGUMENTS --tag "$REPOSITORY:$TAG" .', 'docker push "$REPOSITORY:$TAG"'],
    },
  },
}

export interface RemoteImage {
  /** Part of the tag. */
  readonly name: string
  /** Build context. */
  readonly folder: string
  readonly platform: 'linux/amd64' | 'linux/arm64'
  readonly buildArguments?: Readonly<Record<string, string>>
}

export interface RemoteBuildsProps {
  readonly config: Pick<Config, 'stage' | 'sandboxes' | 'retention'>
  readonly repository: IRepository
}

/** Builds images with Docker in CodeBuild while CloudFormation waits, so that the machine that deploys needs no Docker. */
export class RemoteBuilds extends Construct {
  readonly repository: IRepository
  private readonly project: Project
  private readonly provider: Provider

  constructor(scope: Construct, id: string, { config, repository }: RemoteBuildsProps) {
    super(scope, id)
    const log = (name: string) => new LogGroup(this, name, { retention: config.retention.logDays, removalPolicy: RemovalPolicy.DESTROY })
    this.repository = repository
    this.project = new Project(this, 'Project', {
      projectName: `cellblock-${config.stage}-images`,
      description: 'Cellblock: images, built when a deployment needs them',
      buildSpec: BuildSpec.fromObject(BUILD_SPEC),
      environment: {
        buildImage:
          config.sandboxes.architecture === 'ARM64'
            ? LinuxArmBuildImage.AMAZON_LINUX_2023_STANDARD_3_0
            : LinuxBuildImage.AMAZON_LINUX_2023_5,
        computeType: ComputeType.MEDIUM,
        // Docker's daemon runs in the build.
        privileged: true,
      },
      logging: { cloudWatch: { logGroup: log('BuildLog') } },
      timeout: LONGEST_BUILD,
      queuedTimeout: LONGEST_BUILD,
      grantReportGroupPermissions: false,
    })
    repository.grantPullPush(this.project)
    const start = this.handler('Start', log('StartLog'))
    const isComplete = this.handler('IsComplete', log('IsCompleteLog'))
    start.addToRolePolicy(new PolicyStatement({ actions: ['codebuild:StartBuild'], resources: [this.project.projectArn] }))
    start.addToRolePolicy(new PolicyStatement({ actions: ['ecr:DescribeImages'], resources: [repository.repositoryArn] }))
    isComplete.addToRolePolicy(new PolicyStatement({ actions: ['codebuild:BatchGetBuilds'], resources: [this.project.projectArn] }))
    this.provider = new Provider(this, 'Provider', {
      onEventHandler: start,
      isCompleteHandler: isComplete,
      queryInterval: Duration.seconds(15),
      totalTimeout: LONGEST_BUILD,
    })
  }

  /** Builds the image if the repository does not have it. Returns its tag, which follows from the content. */
  build({ name, folder, platform, buildArguments = {} }: RemoteImage): string {
    const source = new Asset(this, `${name}-source`, { path: folder })
    source.grantRead(this.project)
    const tag = `${source.assetHash.slice(0, TAG_LENGTH)}-${name}`
    const built = new CustomResource(this, name, {
      resourceType: 'Custom::CellblockImage',
      serviceToken: this.provider.serviceToken,
      properties: {
        ProjectName: this.project.projectName,
        RepositoryName: this.repository.repositoryName,
        RepositoryUri: this.repository.repositoryUri,
        Tag: tag,
        Source: `${source.s3BucketName}/${source.s3ObjectKey}`,
        Platform: platform,
        BuildArguments: Object.entries({ BASE: BASE_IMAGE, ...buildArguments })
          .map(([key, value]) => `--build-arg ${key}=${value}`)
          .join(' '),
      },
    })
    // A build starts when the project may read its source and push.
    built.node.addDependency(this.project)
    return tag
  }

  private handler(name: 'Start' | 'IsComplete', logGroup: LogGroup): LambdaFunction {
    return new LambdaFunction(this, name, {
      code: Code.fromInline(IMAGE_BUILD_HANDLER),
      handler: name === 'Start' ? 'index.start' : 'index.isComplete',
      runtime: Runtime.NODEJS_24_X,
      timeout: Duration.minutes(1),
      logGroup,
    })
  }
}

/** The platform of the sandboxes, as Docker names it. */
export const sandboxPlatform = ({ architecture }: Config['sandboxes']): RemoteImage['platform'] =>
  architecture === 'ARM64' ? 'linux/arm64' : 'linux/amd64'
