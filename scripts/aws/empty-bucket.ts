import {
  AbortMultipartUploadCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  NoSuchBucket,
  S3Client,
} from '@aws-sdk/client-s3'
import type { Deployment } from './deployment.ts'

/** Deletes every object version and unfinished upload: CloudFormation deletes empty buckets only. A bucket that is gone is empty. */
export async function emptyBucket({ sdk, progress }: Deployment, bucket: string): Promise<void> {
  const s3 = new S3Client({ ...sdk, forcePathStyle: sdk.endpoint !== undefined })
  try {
    const removed = await removeObjects(s3, bucket)
    await abortUploads(s3, bucket)
    if (removed > 0) progress(`${removed} objects removed from ${bucket}`)
  } catch (error) {
    if (!(error instanceof NoSuchBucket)) throw error
  }
}

/** Returns how many. */
async function removeObjects(s3: S3Client, bucket: string): Promise<number> {
  for (let removed = 0; ;) {
    // Always the first page: the listed objects have been deleted.
    const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket: bucket }))
    const keys = [...Versions, ...DeleteMarkers].flatMap(({ Key, VersionId }) => (Key === undefined ? [] : [{ Key, VersionId }]))
    if (keys.length === 0) return removed
    const { Errors = [] } = await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: keys, Quiet: true } }))
    if (Errors[0]) throw new Error(`${bucket}: ${Errors[0].Key ?? ''} could not be removed: ${Errors[0].Message ?? ''}`)
    removed += keys.length
  }
}

async function abortUploads(s3: S3Client, bucket: string): Promise<void> {
  for (;;) {
    const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
    if (Uploads.length === 0) return
    for (const { Key, UploadId } of Uploads) await s3.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
  }
}
