import { S3Client } from '@aws-sdk/client-s3'
import { constructorOptions, type ClientOptions } from '../client-options.ts'
import { createRetries } from '../retries.ts'

export function createS3Client(options: ClientOptions): S3Client {
  const client = new S3Client({
    ...constructorOptions(options),
    retryStrategy: createRetries(),
    forcePathStyle: options.isEmulated === true,
    // Presigned links go to plain HTTP clients, which send no checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  leaveBodiesUnsigned(client)
  return client
}

/** Omits the hash of the body from the signature: TLS, or the machine itself, protects the bytes, and hashing 100 MB takes longer than sending it. */
function leaveBodiesUnsigned(client: S3Client): void {
  client.middlewareStack.add(
    (next, context) => (args) => {
      const isUpload = context['commandName'] === 'PutObjectCommand' || context['commandName'] === 'UploadPartCommand'
      if (isUpload) (args.request as { headers: Record<string, string> }).headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD'
      return next(args)
    },
    { step: 'build', name: 'leaveBodiesUnsigned' },
  )
}
