import type { Code } from 'aws-cdk-lib/aws-lambda'
import type { BuiltInImage } from '../services/model/containers/images.ts'
import type { FunctionId } from './function-name.ts'

/** Tag of each image in the repository, by the name of the image. */
export type ImageTags = Readonly<Record<BuiltInImage, string>>

/** How the sandbox images reach the account. */
export type SandboxImages =
  /** The deploy command pushes them into the repository of the Image stack, under these tags. */
  | { readonly kind: 'pushed'; readonly tags: ImageTags }
  /** The CDK builds them from this folder and pushes them into the repository of its bootstrap stack, or CodeBuild into that of the Image stack. */
  | { readonly kind: 'built'; readonly folder: string }

/** The files of a deployment. A checkout bundles them from its sources; the npm package carries them. */
export interface DeploymentAssets {
  /** `toolsFolder` is relative to the project. */
  functionCode(name: FunctionId, toolsFolder?: string): Code
  /** Build context of the upload service's image; `remove` is called after the CDK has copied it. */
  uploadContext(options: { readonly isBundled: boolean }): { readonly folder: string; remove(): void }
  readonly images: SandboxImages
  /** Files of the site bucket. Null: the deploy command uploads them. */
  readonly siteFolder: string | null
}
