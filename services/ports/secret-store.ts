import type { StoredSecret } from '../model/network/secret.ts'

type Place = Pick<StoredSecret, 'tenant' | 'owner' | 'subject' | 'name'>

export interface SecretStore {
  /** Replaces the owner's secret of this name and end user. `expiresAt`, epoch ms: it is removed about then; absent for none. */
  put(secret: StoredSecret, expiresAt?: number): Promise<void>
  /** All of an owner, in the order of their names. Consistent. */
  list(tenant: string, owner: string): Promise<readonly StoredSecret[]>
  /** False when there was none. */
  remove(place: Place): Promise<boolean>
  /** Records a use unless one in the last LAST_USED_MS is recorded. */
  noteUse(place: Place, now: number): Promise<void>
}
