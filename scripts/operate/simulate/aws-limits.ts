/** What AWS documents: bursts, and calls per second, of an account and Region. */
export const ECS_LIMITS = {
  /** DescribeTasks and ListTasks together. */
  read: { burst: 100, perSecond: 20 },
  /** RunTask and StopTask together. */
  modify: { burst: 100, perSecond: 40 },
  /** Calls of RunTask for Fargate; the service starts one task with each. */
  runTask: { burst: 20, perSecond: 20 },
  /** Tasks that Fargate starts, whatever call asks. */
  launch: { burst: 100, perSecond: 20 },
} as const

/** Of one DescribeTasks. */
export const DESCRIBED_TASKS = 100

export const LAMBDA_LIMITS = {
  concurrent: 1_000,
  /** New environments of one function: 1,000 at once, and as many again every ten seconds. */
  newEnvironments: { burst: 1_000, perSecond: 100 },
  /** Of an event source mapping: invocations at once in the beginning, and how many more each minute while messages wait (AWS names 60 to 300). */
  mappingStart: 5,
  mappingPerMinute: 60,
  /** An asynchronous invocation that finds no capacity is repeated after these pauses, for so long. */
  asyncPauseMs: { first: 1_000, longest: 300_000 },
  asyncAgeMs: 6 * 3_600_000,
  /** A failed one is repeated after these pauses. */
  asyncRetriesMs: [60_000, 120_000],
} as const

/** Time-outs of the functions, as deployed. */
export const FUNCTION_TIMEOUT_MS = { api: 900_000, run: 120_000, place: 60_000, reconciler: 120_000 } as const

/** Of a new on-demand table: units per second that it accepts at once, and those of one partition, also of an index. */
export const TABLE_LIMITS = { writes: 4_000, reads: 12_000, partitionWrites: 1_000, partitionReads: 3_000 } as const

/** Assumptions where AWS documents nothing: measured by users, or chosen on the careful side. */
export const ECS_MODEL = {
  callMs: { read: [30, 70], modify: [150, 400] },
  /** From RunTask until the task runs. */
  startMs: [45_000, 70_000],
  /** Until reads show a new task, and each change of a task. */
  visibleMs: [500, 2_000],
  noCapacity: 0.002,
  failedStart: 0.002,
  /** From a stop request until the task has stopped. */
  stopMs: [10_000, 40_000],
  sdkAttempts: 3,
} as const

export const EVENT_MODEL = {
  delayMs: [300, 2_000],
  /** Some events are late, so that they arrive after later ones of the same task. */
  late: 0.005,
  lateMs: [10_000, 60_000],
  lost: 0.01,
  twice: 0.05,
  /** The schedule fires within so many milliseconds of its minute. */
  scheduleMs: [0, 5_000],
} as const

export const LAMBDA_MODEL = {
  coldStartMs: [400, 1_200],
  /** An idle environment is removed after so long. */
  idleMs: 300_000,
} as const

export const QUEUE_MODEL = {
  sendMs: [5, 15],
  pollMs: 30,
  /** Messages that a standard queue delivers a second time. */
  twice: 0.001,
  twiceMs: [100, 5_000],
  /** Pauses of a mapping whose invocation found no capacity. */
  throttledPauseMs: { first: 1_000, longest: 60_000 },
} as const

export const TABLE_MODEL = {
  callMs: [3, 8],
  /** One call in a hundred takes longer. */
  slow: 0.01,
  slowMs: [20, 100],
  /** Of a row of one to two kilobytes. */
  unitsPerWrite: 2,
} as const

/** A random number of a range. */
export const between = (random: () => number, [from, to]: readonly [number, number]): number => from + random() * (to - from)
