import { allowHost, refusedHosts, type RefusedHost, type Tenant } from '../state/admin.ts'
import { ConfirmButton } from './confirm-button.tsx'
import { PlainTable } from './plain-table.tsx'

/** What containers of the tenant may reach at most, and what its code was refused. */
export function TenantNetwork({ tenant: { network } }: { readonly tenant: Tenant }) {
  const { allow, presets } = network?.ceiling ?? { allow: [], presets: [] }
  const names = [...allow.map(({ host }) => host), ...presets.map((preset) => `the preset ${preset}`)]
  return (
    <section aria-label="Network">
      <h2>Network</h2>
      <p>{names.length === 0 ? 'Its containers may reach nothing.' : `Its containers may reach at most: ${names.join(', ')}.`}</p>
      {refusedHosts.value.length > 0 && (
        <PlainTable label="Refused hosts" titles={['Host', 'Requests', 'Last', 'Reason', 'Allow']}>
          {refusedHosts.value.map((refused) => (
            <tr key={refused.host}>
              <td>{refused.host}</td>
              <td>{refused.requests}</td>
              <td>{refused.last_at.slice(0, 19).replace('T', ' ')}</td>
              <td>{refused.reason}</td>
              <td>{refused.in_ceiling ? 'allowed to the account' : <AllowButton refused={refused} />}</td>
            </tr>
          ))}
        </PlainTable>
      )}
    </section>
  )
}

/** An allowed host can receive data of the tenant. */
const AllowButton = ({ refused: { host } }: { readonly refused: RefusedHost }) => (
  <ConfirmButton label="Allow" question="Code can send data there. Allow?" of={host} onConfirm={() => void allowHost(host)} />
)
