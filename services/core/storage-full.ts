const CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT']

/** Whether something failed because a disk has no room: by the file system's code, or by its sentence where somebody passed that on. */
export const isStorageFull = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && CODES.includes(error.code)) || /no space left on device/i.test(error.message) || isStorageFull(error.cause))
