import type { Link } from '../model/links/link.ts'

export interface LinkStore {
  put(link: Link): Promise<void>
  findByToken(tokenHash: string): Promise<Link | null>
  get(tenant: string, id: string): Promise<Link | null>
  /** All links to this file version, including revoked ones, oldest first. Eventually consistent. */
  ofFile(tenant: string, fileId: string): Promise<readonly Link[]>
  revoke(tenant: string, id: string, now: number): Promise<Link | null>
}
