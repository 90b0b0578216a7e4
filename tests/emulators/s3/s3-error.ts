/** The errors of this subset of S3 and their HTTP status. S3 itself is never full. */
const STATUS = {
  AccessDenied: 403,
  BadDigest: 400,
  BucketAlreadyExists: 409,
  EntityTooLarge: 400,
  IncompleteBody: 400,
  InsufficientStorage: 507,
  InternalError: 500,
  InvalidAccessKeyId: 403,
  InvalidArgument: 400,
  InvalidBucketName: 400,
  InvalidPart: 400,
  InvalidPartOrder: 400,
  InvalidRange: 416,
  InvalidRequest: 400,
  KeyTooLongError: 400,
  MalformedXML: 400,
  MethodNotAllowed: 405,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  NotImplemented: 501,
  PreconditionFailed: 412,
  RequestTimeTooSkewed: 403,
  SignatureDoesNotMatch: 403,
  XAmzContentSHA256Mismatch: 400,
} as const
export type S3ErrorCode = keyof typeof STATUS

/** A refusal as S3 would give it. */
export class S3Error extends Error {
  readonly code: S3ErrorCode
  readonly status: number
  constructor(code: S3ErrorCode, message: string) {
    super(message)
    this.name = 'S3Error'
    this.code = code
    this.status = STATUS[code]
  }
}
