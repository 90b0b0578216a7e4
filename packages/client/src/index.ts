export type * from './api.ts'
export { Cellblock, type CallOptions, type ClientOptions, type UploadedFile } from './client.ts'
export { CellblockError } from './errors.ts'
export type { ServerEvent } from './server-events.ts'
