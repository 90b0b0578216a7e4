import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets'
import type { IRepository } from 'aws-cdk-lib/aws-ecr'
import { Construct } from 'constructs'
import type { Config } from '../config.ts'

export interface BuiltImagesProps {
  readonly config: Pick<Config, 'sandboxes'>
  /** Build context of all images. */
  readonly folder: string
}

const PLATFORMS = { X86_64: Platform.LINUX_AMD64, ARM64: Platform.LINUX_ARM64 } as const

/** The offered sandbox images, which the CDK builds with Docker when it deploys. */
export class BuiltImages extends Construct {
  readonly repository: IRepository
  /** By the names of the images. */
  readonly uris: Readonly<Record<string, string>>

  constructor(scope: Construct, id: string, { config, folder }: BuiltImagesProps) {
    super(scope, id)
    const { images, architecture } = config.sandboxes
    const built = images.map(
      (name) =>
        [
          name,
          new DockerImageAsset(this, name, {
            directory: folder,
            buildArgs: { VARIANT: name },
            platform: PLATFORMS[architecture],
            assetName: `cellblock-sandbox-${name}`,
          }),
        ] as const,
    )
    const [first] = built
    if (first === undefined) throw new Error('The settings offer no image.')
    this.repository = first[1].repository
    this.uris = Object.fromEntries(built.map(([name, asset]) => [name, asset.imageUri]))
  }
}
