import {
  AbortMultipartUploadCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import type { Deployment } from './deployment.ts'

/** Deletes every object version and unfinished upload: CloudFormation deletes empty buckets only. */
export async function emptyBucket({ sdk, progress }: Deployment, bucket: string): Promise<void> {
  const s3 = new S3Client({ ...sdk, forcePathStyle: sdk.endpoint !== undefined })
  let removed = 0
  for (;;) {
    // Always the first page: the listed objects have been deleted.
    const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket: bucket }))
    const keys = [...Versions, ...DeleteMarkers].flatMap(({ Key, VersionId }) => (Key === undefined ? [] : [{ Key, VersionId }]))
    if (keys.length === 0) break
    const { Errors = [] } = await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: keys, Quiet: true } }))
    if (Errors[0]) throw new Error(`${bucket}: ${Errors[0].Key ?? ''} could not be removed: ${Errors[0].Message ?? ''}`)
    removed += keys.length
  }
  const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
  for (const { Key, UploadId } of Uploads) await s3.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
  if (removed > 0) progress(`${removed} objects removed from ${bucket}`)
}
