import { ROUTES, type Route } from '../../src-runner/contract/routes.ts'
import { useSession } from './SessionProvider.tsx'

/** Says whether the person at this page may use a route: members may not use those that the route table keeps for owners. */
export function useMay(): (route: keyof typeof ROUTES) => boolean {
  const session = useSession()
  return (name) => {
    const route: Route = ROUTES[name]
    return session?.person()?.role !== 'member' || route.ownerOnly !== true
  }
}
