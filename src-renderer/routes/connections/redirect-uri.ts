import type { Connector } from '../../../src-runner/contract/connectors.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { isGeneric } from './connection.ts'

/** The address at which a service sends the browser back. The person registers it there. */
export function useRedirectUri(): (connector: Connector) => string {
  const { state } = useDesktop()
  return (connector) => {
    const dashboard = state()?.dashboard
    const base = dashboard?.state === 'ready' ? dashboard.dashboardUrl : location.origin
    // Every service that is not in the catalogue has the same.
    return `${base}/api/oauth/${isGeneric(connector) ? 'oauth2' : connector.slug}/callback`
  }
}
