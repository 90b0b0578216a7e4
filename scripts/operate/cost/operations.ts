/** A message is sent, received and deleted. */
export const SQS_REQUESTS_PER_MESSAGE = 3

/**
 * Billed units of one turn with one execution, on a container with a sandbox, and of the minute after it. Those of the table and the queues are counted by
 * `tests/unit/scripts/turn-operations.test.ts`: a write counts once per KB, and again for each index entry that it adds, changes or removes.
 */
export const PER_TURN = {
  dynamodbWrites: 53,
  dynamodbReads: 62,
  sqsRequests: 12,
  s3Puts: 2,
  s3Gets: 1,
  kmsRequests: 2,
  lambdaInvocations: 5,
  logKb: 6,
  /** Rows and events of a turn, kept as long as its files. */
  tableKb: 40,
  /** What the distribution sends to the client. */
  answerKb: 60,
  /** Queue messages of the run worker, which pass an interface endpoint. */
  endpointKb: 10,
} as const

/** Those of a start with the turn that waits for it, and of the hibernation at the end. */
export const PER_START = {
  dynamodbWrites: 94,
  dynamodbReads: 130,
  sqsRequests: 24,
} as const
