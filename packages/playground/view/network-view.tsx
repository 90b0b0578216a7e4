import { useEffect } from 'preact/hooks'
import { currentChat } from '../state/chats.ts'
import { isBusy } from '../state/conversation.ts'
import {
  allowHost,
  isNetworkOpen,
  network,
  networkFailure,
  refreshNetwork,
  refusedHosts,
  requests,
  type ChatNetwork,
  type RefusedHost,
} from '../state/network.ts'
import { CopyButton } from '../render/copy-button.tsx'
import { Icon } from '../render/icons.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { PlainTable } from './plain-table.tsx'

/** Hosts that are named in a sentence. */
const MAX_NAMED = 12

/** What the code of the chat may reach and what it requested, read again after each run. */
export function NetworkView() {
  useEffect(() => void (isBusy.value || refreshNetwork()), [isBusy.value])
  const policy = network.value
  return (
    <section class="variables network" aria-label="Network">
      <header>
        <h2>Network</h2>
        <button type="button" class="icon-button small" onClick={() => void refreshNetwork()} title="Read again">
          <Icon name="retry" />
          <span class="hidden">Read the requests again</span>
        </button>
        <button type="button" class="icon-button small" onClick={() => (isNetworkOpen.value = false)} title="Close">
          <Icon name="close" />
          <span class="hidden">Close the network</span>
        </button>
      </header>
      {networkFailure.value !== null && (
        <p class="failure" role="alert">
          {networkFailure.value}
        </p>
      )}
      {policy !== null && (
        <>
          <p>{hostsText(policy)}</p>
          {policy.is_enabled && <RefusedHosts of={refusedHosts(policy)} />}
          {requests.value.length > 0 && <Requests />}
        </>
      )}
    </section>
  )
}

function hostsText({ hosts, is_enabled: isEnabled }: ChatNetwork): string {
  if (!isEnabled) return 'Code on this server has no network.'
  if (hosts.length === 0) return 'The code of this chat has no network.'
  const more = hosts.length - MAX_NAMED
  return `The code of this chat may reach: ${hosts.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

const RefusedHosts = ({ of }: { readonly of: readonly RefusedHost[] }) =>
  of.length === 0 ? null : (
    <ul class="refused-hosts" aria-label="Refused hosts">
      {of.map((refused) => (
        <RefusedHostRow key={refused.host} refused={refused} />
      ))}
    </ul>
  )

/** Why a host was refused, and how to get it. */
function RefusedHostRow({ refused: { host, reason, allowedBy } }: { readonly refused: RefusedHost }) {
  return (
    <li>
      <strong>{host}</strong> was refused. {reason}
      {allowedBy === 'operator' && (
        <p>
          Ask the operator of this service to allow it. <CopyButton text={requestFor(host)} label={`Copy a request to allow ${host}`} />
        </p>
      )}
      {allowedBy === 'chat' && (
        <ConfirmButton
          label={`Allow ${host} in this chat`}
          question={`Code of this chat can send data to ${host}. Allow it?`}
          onConfirm={() => void allowHost(host)}
        />
      )}
    </li>
  )
}

const requestFor = (host: string): string =>
  `Please allow the host ${host} for our account: code in the container ${currentChat.value.containerId ?? ''} requested it and was refused.`

function Requests() {
  const list = requests.value
  const refused = list.filter(({ decision }) => decision === 'refused').length
  return (
    <>
      <p role="status">
        {list.length === 1 ? '1 request' : `${list.length} requests`}, {refused} refused
      </p>
      <PlainTable label="Requests" titles={['Time', 'Host', 'Request', 'Answer']}>
        {list.map(({ id, at, host, method, path, status, decision, reason }) => (
          <tr key={id} class={decision}>
            <td>{at.slice(11, 19)}</td>
            <td title={host}>{host}</td>
            <td title={`${method} ${path}`}>
              {method} {path}
            </td>
            <td title={reason ?? ''}>{decision === 'refused' ? 'refused' : (status ?? 'none')}</td>
          </tr>
        ))}
      </PlainTable>
    </>
  )
}
