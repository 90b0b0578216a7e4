const CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT']

/** Whether an error means that a disk is full: by the file system's code, or by its message if the code was not passed on. */
export const isStorageFull = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && CODES.includes(error.code)) || /no space left on device/i.test(error.message) || isStorageFull(error.cause))
