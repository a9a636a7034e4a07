import { ROUTE_TABLE } from '../../src-runner/contract/route-table.ts'
import { useSession } from './SessionProvider.tsx'

/** Says whether the person at this page may use a route: members may not use those that the route table keeps for owners. */
export function useMay(): (route: keyof typeof ROUTE_TABLE) => boolean {
  const session = useSession()
  return (name) => session?.person()?.role !== 'member' || ROUTE_TABLE[name].ownerOnly !== true
}
