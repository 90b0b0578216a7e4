const MiB = 1024 * 1024
const GiB = 1024 * MiB

export const MEMORY_TIERS = ['1g', '4g', '16g', '64g'] as const
export type MemoryTier = (typeof MEMORY_TIERS)[number]

/** What each tier gives the user's code, and the Fargate pair (CPU units, MiB) that can hold it. */
export const TIERS: Record<MemoryTier, { readonly memoryBytes: number; readonly fargateCpu: number; readonly fargateMemoryMiB: number }> = {
  '1g': { memoryBytes: 1 * GiB, fargateCpu: 512, fargateMemoryMiB: 2048 },
  '4g': { memoryBytes: 4 * GiB, fargateCpu: 1024, fargateMemoryMiB: 6144 },
  '16g': { memoryBytes: 16 * GiB, fargateCpu: 4096, fargateMemoryMiB: 20480 },
  '64g': { memoryBytes: 64 * GiB, fargateCpu: 16384, fargateMemoryMiB: 81920 },
}

export const LIMITS = {
  /** Source of one execution, bytes. */
  maxCodeBytes: 1 * MiB,
  /** One notebook document, bytes. */
  maxNotebookBytes: 8 * MiB,
  maxNotebookCells: 500,
  /** The source of all code cells of one notebook as JSON, bytes: it lies in the execution's row. */
  maxNotebookCodeBytes: 200 * 1024,
  /** A JSON request body, bytes. */
  maxJsonBytes: 10 * MiB,
  /** A file sent as multipart through the API's own port, bytes. Bigger ones take an upload URL. */
  maxMultipartFileBytes: 64 * MiB,
  maxFileBytes: 512 * MiB,
  /** One part of an upload, bytes, and the parts of one upload. */
  maxUploadPartBytes: 64 * MiB,
  maxUploadParts: 1_000,
  /** An upload takes parts for this long, minutes. */
  uploadMinutes: 60,
  /** Life that a caller may give a file, seconds. */
  minFileSeconds: 3_600,
  maxFileSeconds: 2_592_000,
  maxFilesPerContainer: 10_000,
  /** Files that one execution may hand back; the rest is named in `lost`. */
  maxFilesPerExecution: 1_000,
  /** Name of a file with its folders, in bytes of UTF-8; each segment at most 255. */
  maxPathBytes: 1024,
  defaultTimeoutSeconds: 120,
  maxTimeoutSeconds: 3_600,
  maxWaitSeconds: 60,
  defaultWaitSeconds: 30,
  /** Executions that may wait in one container. */
  maxQueuedPerContainer: 100,
  /** Responses that may wait in one conversation. */
  maxQueuedPerConversation: 100,
  /** Items that one call may add to a conversation. */
  maxItemsPerCall: 20,
  /** Kept of each of stdout and stderr from the start, and from the end once the head is full, bytes. */
  maxStreamHeadBytes: 1 * MiB,
  maxStreamTailBytes: 64 * 1024,
  /** Text up to this size stays inline in a result; anything bigger becomes an object with a link. */
  maxInlineTextBytes: 64 * 1024,
  /** Binary parts of a MIME bundle (base64 as they come) up to this size stay inline. */
  maxInlineBinaryBytes: 256 * 1024,
  /** Life of a presigned URL, seconds. */
  presignedSeconds: 300,
  /** Life of a `/d/…` link, days. */
  linkDays: 7,
  /** Files and variables of a container outlive its sandbox by this, days since it was last used. */
  retentionDays: 30,
  /** An ended response is kept this long, days; one that was not to be stored only as long as its stream may be read, minutes. */
  responseDays: 30,
  unstoredResponseMinutes: 60,
  defaultIdleMinutes: 20,
  /** A container that nobody used for this long gives its sandbox back; files and variables are kept. Waking is cheap. */
  hibernateAfterMinutes: 5,
  /** The saved variables of one container, bytes. The biggest ones that do not fit are named when it wakes. */
  maxSnapshotBytes: 1 * GiB,
  maxIdleMinutes: 1_440,
  maxContainerNameBytes: 256,
  /** Files that one container may be created with. */
  maxFileIds: 100,
  /** Arrays and objects inside one another in a JSON body. */
  maxJsonDepth: 64,
  /** Event streams that one process holds open; the next one is asked to come back. */
  maxOpenStreams: 1_000,
  /** An idempotency key is remembered this long, hours. */
  idempotencyHours: 24,
  maxToolCallsPerResponse: 25,
  maxConsecutiveFailures: 3,
  /** A whole response may take this long, seconds. */
  maxResponseSeconds: 1_800,
} as const
