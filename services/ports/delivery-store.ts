import type { Delivery } from '../model/webhooks/webhook.ts'
import type { LeasedStore } from './leased-store.ts'
import type { Page, PageRequest } from '../model/page.ts'

export interface DeliveryStore extends LeasedStore<Delivery> {
  listByEndpoint(tenant: string, endpointId: string, page: PageRequest): Promise<Page<Delivery>>
}
