import { DriverError } from '../core/ports/sandbox-driver.ts'
import { isStorageFull } from '../core/storage-full.ts'

/** One sentence for a person whose server did not start, or ended by itself; the stack only where nobody foresaw the fault. */
export function explainStart(error: unknown): string {
  if (error instanceof DriverError) return error.message
  if (isStorageFull(error)) return 'The disk is full. Free some space and start again; with --data, everything that was answered is kept.'
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === 'EADDRINUSE') return 'The port is taken by another program. Stop it, or choose another one: PORT=8788 npm start'
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return 'This machine has no such address to listen on. Set HOST to one that it has: HOST=127.0.0.1 npm start'
  if (code === 'EEXIST' || code === 'ENOTDIR' || code === 'EROFS' || code === 'ENOENT')
    return 'The data folder cannot be made: a file is in its way, or nothing can be written there. Choose another one: npm start -- --data ./data'
  if (code === 'EACCES') return 'This port or data folder may not be used by you. Choose another one: PORT=8788 npm start -- --data ./data'
  if (code === 'LEVEL_IO_ERROR')
    return `The table's files cannot be read or written (${(error as Error).message}). Mend that and start again: with --data, everything that was answered is kept.`
  // The emulator hides the code of the second fault behind these words.
  if (String(code).startsWith('LEVEL_') || (error instanceof Error && error.message === 'Database is closed'))
    return 'The table in the data folder is damaged and cannot be read. Put a copy of the folder back, or choose another one: npm start -- --data ./data'
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
