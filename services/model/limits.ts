const MiB = 1024 * 1024
const GiB = 1024 * MiB

export const MEMORY_TIERS = ['1g', '4g', '16g', '64g'] as const
export type MemoryTier = (typeof MEMORY_TIERS)[number]

/** Memory of each tier for user code. */
export const TIERS: Record<MemoryTier, { readonly memoryBytes: number }> = {
  '1g': { memoryBytes: 1 * GiB },
  '4g': { memoryBytes: 4 * GiB },
  '16g': { memoryBytes: 16 * GiB },
  '64g': { memoryBytes: 64 * GiB },
}

export const LIMITS = {
  /** Source of one execution, bytes. */
  maxCodeBytes: 1 * MiB,
  /** One notebook document, bytes. */
  maxNotebookBytes: 8 * MiB,
  maxNotebookCells: 500,
  /** The source of all code cells of one notebook as JSON, bytes: it is stored in the execution's row. */
  maxNotebookCodeBytes: 200 * 1024,
  /** A JSON request body, bytes. */
  maxJsonBytes: 10 * MiB,
  /** A JSON body of a turn, bytes: files of 50 MB as base64 with text beside them. Its length must be announced. */
  maxTurnJsonBytes: 72 * MiB,
  /** A file sent as multipart to the API, bytes. */
  maxMultipartFileBytes: 512 * MiB,
  maxFileBytes: 512 * MiB,
  /** One part of an upload, bytes, and the parts of one upload. */
  maxUploadPartBytes: 64 * MiB,
  maxUploadParts: 1_000,
  /** An upload accepts parts for this time, minutes. */
  uploadMinutes: 60,
  /** Range of the lifetime that a client may set for a file, seconds. */
  minFileSeconds: 3_600,
  maxFileSeconds: 2_592_000,
  maxFilesPerContainer: 10_000,
  /** A skill: its zip archive or form, and its files together, bytes; the number and the depth of its files; its versions. */
  maxSkillArchiveBytes: 25 * MiB,
  maxSkillBytes: 25 * MiB,
  maxSkillFiles: 500,
  maxSkillDepth: 8,
  maxSkillVersions: 64,
  /** Skills of one container, and their bytes together. The sandbox holds them in memory. */
  maxSkillsPerContainer: 16,
  maxContainerSkillBytes: 32 * MiB,
  sandboxSkillBytes: 64 * MiB,
  /** Files that one execution returns; `lost` names the others. */
  maxFilesPerExecution: 1_000,
  /** Name of a file with its folders, in bytes of UTF-8; each segment at most 255. */
  maxPathBytes: 1024,
  defaultTimeoutSeconds: 120,
  maxTimeoutSeconds: 3_600,
  maxWaitSeconds: 60,
  defaultWaitSeconds: 30,
  /** Executions in the queue of one container. */
  maxQueuedPerContainer: 100,
  /** Commands of one container that run at the same time: in the foreground, and in the background. */
  maxCommandsPerContainer: 32,
  /** Variables and input of a command as JSON, bytes: they are stored in its row, with up to 64 KiB of arguments. Longer ones become an object. */
  maxCommandBytes: 200 * 1024,
  /** All arguments of a command, bytes. Linux accepts 2 MiB with the variables. */
  maxArgumentsBytes: 1.5 * MiB,
  /** One piece of input for a running command, bytes. */
  maxCommandInputBytes: 1 * MiB,
  /** Input of one command that its sandbox has not accepted yet, bytes. A program that does not read stops the transfer at as many bytes. */
  maxPendingInputBytes: 4 * MiB,
  /** Responses in the queue of one conversation. */
  maxQueuedPerConversation: 100,
  /** Responses that a conversation lists as ended without completion. */
  maxUnfinishedPerConversation: 50,
  /** Conversations that one search reads, the latest first. */
  maxSearchedConversations: 2_000,
  /** What one search in messages reads: the latest conversations, the latest items of each, and their bytes together. */
  textSearchConversations: 100,
  textSearchItems: 100,
  textSearchBytes: 16 * MiB,
  /** Links that show one conversation to anyone, and their lifetime, days. */
  maxSharesPerConversation: 10,
  shareDays: 30,
  maxShareDays: 365,
  /** Requests by all such links of one tenant in a minute. */
  maxSharedReadsPerMinute: 600,
  /** Items that one request may add to a conversation. */
  maxItemsPerCall: 20,
  /** Stored bytes of stdout and of stderr: from the start, and from the end once the head is full. */
  maxStreamHeadBytes: 1 * MiB,
  maxStreamTailBytes: 64 * 1024,
  /** The head of a stream in the event log of a command whose client follows it; its result has no more than others. */
  maxFollowedHeadBytes: 24 * MiB,
  /** Text up to this size stays inline in a result; larger text becomes an object with a link, bytes. */
  maxInlineTextBytes: 64 * 1024,
  /** Base64 parts of a MIME bundle up to this size stay inline, bytes. */
  maxInlineBinaryBytes: 256 * 1024,
  /** Maximum size of the outputs that an answer of the native wire embeds, bytes; and with `inline=all`. */
  inlineAnswerBytes: 1 * MiB,
  maxInlineAnswerBytes: 16 * MiB,
  /** Answers that one process holds until their clients have read them, bytes. A tenant gets a quarter: the largest notebook. */
  maxResultBytesInFlight: 256 * MiB,
  /** Request bodies that one process holds, bytes. A tenant gets a quarter: the largest body. */
  maxRequestBytesInFlight: 288 * MiB,
  /** A connection that makes no progress for this time is ended, seconds. */
  stallSeconds: 30,
  /** Connections of one address on which no request had a valid key. */
  maxKeylessConnections: 256,
  /** Connections whose last request with a valid key was one tenant's: all that may stay open (500 streams, 500 WebSockets, 100 visitors of ports), nearly twice. */
  maxTenantConnections: 2_000,
  /** Requests of one tenant whose client has left and whose work is in progress. */
  maxAbandonedRequests: 100,
  /** A stream reads events up to this size at a time, bytes, and at least one batch of their writer. */
  maxEventReadBytes: 256 * 1024,
  /** Lifetime of a presigned URL, seconds. */
  presignedSeconds: 300,
  /** Default lifetime of a `/d/…` link, days. */
  linkDays: 7,
  /** Files and variables of a container are kept for this time after its last use, days. */
  retentionDays: 30,
  /** An ended response is kept for this time, days; with `store: false` only while its stream may be read, minutes. */
  responseDays: 30,
  unstoredResponseMinutes: 60,
  defaultIdleMinutes: 20,
  /** An idle container hibernates after this time: it releases its sandbox and keeps files and variables. */
  hibernateAfterMinutes: 5,
  /** The saved variables of one container, bytes. The next result names variables that do not fit. */
  maxSnapshotBytes: 1 * GiB,
  maxIdleMinutes: 1_440,
  maxContainerNameBytes: 256,
  /** Copies of a container that one call makes. */
  maxForks: 16,
  /** Files that a request may name when it creates a container. */
  maxFileIds: 100,
  /** Nesting depth of a JSON body. */
  maxJsonDepth: 64,
  /** Arrays, objects and their entries in a JSON body: 20,000 messages with one content part each have 260,000. */
  maxJsonValues: 300_000,
  /** Keys of one object in a JSON body. */
  maxJsonKeys: 10_000,
  /** Values of a message of a protocol that sends small ones, and fields of one in Protocol Buffers. */
  maxMessageValues: 10_000,
  /** Open event streams per process; further ones are refused with 429. */
  maxOpenStreams: 1_000,
  /** Webhook endpoints of one tenant; an ended delivery is kept for this time, days. */
  maxWebhookEndpoints: 20,
  deliveryDays: 30,
  /** A rotated secret also signs for this time if the request asks for it, hours. */
  webhookOverlapHours: 24,
  /** An idempotency key is stored for this time, hours. */
  idempotencyHours: 24,
  /** An SDK's automatic retry attaches to the same request of this time, minutes. */
  retryAttachMinutes: 10,
  maxToolCallsPerResponse: 25,
  maxConsecutiveFailures: 3,
  /** Maximum duration of a response, seconds. */
  maxResponseSeconds: 1_800,
} as const
