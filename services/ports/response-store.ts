import type { ResponseRecord } from '../model/responses/response.ts'
import type { LeasedStore } from './leased-store.ts'

export interface ResponseStore extends LeasedStore<ResponseRecord> {}
