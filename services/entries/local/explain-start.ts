import { DriverError } from '../../ports/sandbox-driver.ts'
import { isStorageFull } from '../../model/storage-full.ts'
import { SchemaError } from '../../adapters/storage/sqlite/schema.ts'
import { DamagedDatabaseError, LockedDatabaseError } from '../../adapters/storage/sqlite/sqlite-error.ts'

/** One sentence for the operator whose server did not start or ended by itself; the stack only for unexpected faults. */
export function explainStart(error: unknown): string {
  if (error instanceof DriverError) return error.message
  if (isStorageFull(error)) return 'The disk is full. Free some space and start again; with --data, every acknowledged write is kept.'
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === 'EADDRINUSE') return 'Another program uses the port. Stop it, or choose another one: PORT=8788 npm start'
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return 'This machine has no such address to listen on. Set HOST to one that it has: HOST=127.0.0.1 npm start'
  if (code === 'EEXIST' || code === 'ENOTDIR' || code === 'EROFS' || code === 'ENOENT')
    return 'The data folder cannot be created: a file has its name, or the place is not writable. Choose another one: npm start -- --data ./data'
  if (code === 'EACCES') return 'Permission denied for this port or data folder. Choose another one: PORT=8788 npm start -- --data ./data'
  if (error instanceof SchemaError) return error.message
  if (error instanceof DamagedDatabaseError)
    return 'The database in the data folder is damaged and cannot be read. Restore a backup of the folder, or choose another one: npm start -- --data ./data'
  if (error instanceof LockedDatabaseError)
    return 'Another program has the database in the data folder (rows.sqlite) open. Close it and start again.'
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
