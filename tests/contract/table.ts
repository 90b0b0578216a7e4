import { describe } from 'vitest'
import type { Table } from '../../services/ports/table.ts'
import { conversationStoreContract } from './table/conversation-store.ts'
import { containerStoreContract } from './table/container-store.ts'
import { dueContract } from './table/due.ts'
import { eventStoreContract } from './table/event-store.ts'
import { fileStoreContract } from './table/file-store.ts'
import { hibernationContract } from './table/hibernation.ts'
import { leasedStoreContract } from './table/leased-store.ts'
import { sandboxStoreContract } from './table/sandbox-store.ts'
import { skillStoreContract } from './table/skill-store.ts'
import { meteredRowsContract } from './table/metered-rows.ts'
import { smallStoresContract } from './table/small-stores.ts'
import { userFilesContract } from './table/user-files.ts'

/** The contract of every Table. Tests call `table` after it was opened. */
export function tableContract(name: string, table: () => Table): void {
  describe(`Table: ${name}`, () => {
    leasedStoreContract(table)
    containerStoreContract(table)
    conversationStoreContract(table)
    hibernationContract(table)
    fileStoreContract(table)
    userFilesContract(table)
    skillStoreContract(table)
    sandboxStoreContract(table)
    eventStoreContract(table)
    smallStoresContract(table)
    dueContract(table)
    meteredRowsContract(table)
  })
}
