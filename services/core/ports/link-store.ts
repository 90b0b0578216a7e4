import type { Link } from '../links/link.ts'

export interface LinkStore {
  put(link: Link): Promise<void>
  findByToken(tokenHash: string): Promise<Link | null>
  get(tenant: string, id: string): Promise<Link | null>
  /** Every link that was ever made to this file version, revoked ones too, oldest first. May lag behind. */
  ofFile(tenant: string, fileId: string): Promise<readonly Link[]>
  revoke(tenant: string, id: string, now: number): Promise<Link | null>
}
