import { ServiceError } from '../../core/errors.ts'

/** Throws ServiceError `unsupported_value` for anything but `disabled`. */
export function refuseNetwork(policy: { readonly type: string } | null | undefined, param = 'network_policy'): void {
  if (policy !== null && policy !== undefined && policy.type !== 'disabled')
    throw new ServiceError(
      'unsupported_value',
      'Sandboxes have no network, so hosts cannot be allowed. Leave network_policy out or send {"type": "disabled"}, and upload the data as files.',
      { param },
    )
}
