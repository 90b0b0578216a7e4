import type { IncomingMessage, ServerResponse } from 'node:http'
import type { S3Request } from './authenticate.ts'
import type { ObjectFolder } from './bucket-folder.ts'
import type { MultipartUploads } from './multipart.ts'

/** An authenticated request. */
export interface Operation {
  readonly request: S3Request
  readonly bucket: string
  readonly key: string
  readonly payloadHash: string
  readonly folder: ObjectFolder
  readonly uploads: MultipartUploads
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
}
