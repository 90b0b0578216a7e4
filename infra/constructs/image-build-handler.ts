/**
 * Starts the build of an image in CodeBuild and says when it has ended, for the CDK's provider framework. An image whose tag exists is not built again.
 * Runs on the AWS SDK of Lambda's runtime.
 */
export const IMAGE_BUILD_HANDLER = `'use strict'
const { CodeBuildClient, StartBuildCommand, BatchGetBuildsCommand } = require('@aws-sdk/client-codebuild')
const { ECRClient, DescribeImagesCommand } = require('@aws-sdk/client-ecr')

const hasImage = async ({ RepositoryName, Tag }) => {
  try {
    await new ECRClient({}).send(new DescribeImagesCommand({ repositoryName: RepositoryName, imageIds: [{ imageTag: Tag }] }))
    return true
  } catch (error) {
    if (error.name === 'ImageNotFoundException') return false
    throw error
  }
}

exports.start = async ({ RequestType, PhysicalResourceId, ResourceProperties: wanted }) => {
  if (RequestType === 'Delete') return { PhysicalResourceId }
  const done = { PhysicalResourceId: wanted.RepositoryName + ':' + wanted.Tag, Data: { BuildId: '' } }
  if (await hasImage(wanted)) return done
  const variables = { REPOSITORY: wanted.RepositoryUri, TAG: wanted.Tag, PLATFORM: wanted.Platform, BUILD_ARGUMENTS: wanted.BuildArguments }
  const { build } = await new CodeBuildClient({}).send(new StartBuildCommand({
    projectName: wanted.ProjectName,
    sourceTypeOverride: 'S3',
    sourceLocationOverride: wanted.Source,
    environmentVariablesOverride: Object.entries(variables).map(([name, value]) => ({ name, value, type: 'PLAINTEXT' })),
  }))
  return { ...done, Data: { BuildId: build.id } }
}

exports.isComplete = async ({ RequestType, Data, ResourceProperties: wanted }) => {
  const id = Data && Data.BuildId
  if (RequestType === 'Delete' || !id) return { IsComplete: true }
  const { builds } = await new CodeBuildClient({}).send(new BatchGetBuildsCommand({ ids: [id] }))
  const { buildStatus, logs } = builds[0]
  if (buildStatus === 'IN_PROGRESS') return { IsComplete: false }
  if (buildStatus === 'SUCCEEDED') return { IsComplete: true }
  throw new Error('The build of the image ' + wanted.Tag + ' ended as ' + buildStatus + '. Its log: ' + ((logs && logs.deepLink) || id))
}
`
