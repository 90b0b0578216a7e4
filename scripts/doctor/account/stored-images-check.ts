import { DescribeImagesCommand, type ECRClient } from '@aws-sdk/client-ecr'
import { DescribeTaskDefinitionCommand, type ECSClient } from '@aws-sdk/client-ecs'
import { fail, ok, warn, type Finding } from '../finding.ts'
import type { Deployed } from './deployed.ts'

const ECR_IMAGE = /^\d+\.dkr\.ecr\.[^/]+\/(?<repository>[^:@]+):(?<tag>[^:@]+)$/
const MISSING = ['ImageNotFoundException', 'RepositoryNotFoundException']

/** Whether ECR still has the image of every task definition. ECR knows no task definitions, so a lifecycle rule can expire an image in use. */
export async function checkStoredImages(
  { ecs, images }: { readonly ecs: ECSClient; readonly images: ECRClient },
  { allTaskDefinitions }: Pick<Deployed, 'allTaskDefinitions'>,
): Promise<Finding> {
  const what = 'Stored images'
  try {
    const named = await Promise.all(
      allTaskDefinitions.map(async (taskDefinition) => {
        const { taskDefinition: found } = await ecs.send(new DescribeTaskDefinitionCommand({ taskDefinition }))
        return found?.containerDefinitions?.flatMap(({ image }) => image ?? []) ?? []
      }),
    )
    const wanted = [...new Set(named.flat())]
    const stored = await Promise.all(wanted.map((image) => isStored(images, image)))
    const lost = wanted.filter((_, place) => stored[place] === false)
    return lost.length === 0
      ? ok(what, `${wanted.length} of the task definitions exist`)
      : fail(what, `ECR no longer has ${lost.join(', ')}, so no task starts from it. Run npm run deploy: it pushes what is missing.`)
  } catch (error) {
    return warn(
      what,
      `could not be read (${error instanceof Error ? error.name : String(error)}): these credentials need ecr:DescribeImages.`,
    )
  }
}

/** Null for an image of another registry. */
async function isStored(client: ECRClient, image: string): Promise<boolean | null> {
  const { repository: repositoryName, tag: imageTag } = ECR_IMAGE.exec(image)?.groups ?? {}
  if (repositoryName === undefined || imageTag === undefined) return null
  try {
    const { imageDetails = [] } = await client.send(new DescribeImagesCommand({ repositoryName, imageIds: [{ imageTag }] }))
    return imageDetails.length > 0
  } catch (error) {
    if (error instanceof Error && MISSING.includes(error.name)) return false
    throw error
  }
}
