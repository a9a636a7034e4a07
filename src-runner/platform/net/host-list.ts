import { isIP } from 'node:net'
import type { Message } from '../../contract/messages.ts'
import { createMessage } from '../../lib/messages.ts'
import { isOpenedHost } from './address-guard.ts'
import { kindOfAddress } from './address-kind.ts'
import { hostOf, isLocalName, readWebAddress, WebAddressRefused } from './web-address.ts'

/**
 * Whether a credential of these hosts may be sent to the address. `api.example.com` is the standard port alone,
 * `api.example.com:8443` that port, and `*.example.com` one label in front.
 */
export function isHostCovered(url: URL, hosts: readonly string[]): boolean {
  const [, ...rest] = url.host.split('.')
  return hosts.some(
    (entry) => entry === url.host || (entry.startsWith('*.') && entry.slice(2) === rest.join('.') && isIP(hostOf(url)) === 0),
  )
}

/** Encrypted, or to a host that the person opened, where that may be impossible. */
export function mayCarrySecret(url: URL, opened: readonly string[]): boolean {
  return url.protocol === 'https:' || isOpenedHost(url, opened)
}

/**
 * A host as a person enters it, perhaps as a whole address, in the spelling that addresses are compared with; or what is wrong
 * with it. Hosts of this machine and its network must have been opened. A wildcard is refused: under `*.example.com` a
 * stranger may have a host as well, and no list of such domains is complete.
 */
export function readHost(given: string, opened: readonly string[]): { host: string } | { problem: Message } {
  const text = given.trim().replace(/^https?:\/\//i, '')
  if (text.includes('*')) return { problem: createMessage('credential_host_wildcard') }
  const unreadable = { problem: createMessage('credential_host_unreadable') }
  if (!/^[^\s?#@\\]+$/.test(text) || text.includes('//')) return unreadable
  let url: URL
  try {
    url = readWebAddress(`https://${text}`)
  } catch (error) {
    if (error instanceof WebAddressRefused) return unreadable
    throw error
  }
  const name = hostOf(url)
  const isNear = isIP(name) > 0 ? kindOfAddress(name) !== 'public' : isLocalName(name)
  if (isNear && !isOpenedHost(url, opened)) return { problem: createMessage('credential_host_not_opened', { host: url.host }) }
  return { host: url.host }
}
