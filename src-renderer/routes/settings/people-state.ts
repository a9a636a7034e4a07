import { ApiError } from '../../api/client.ts'

/** Nobody signs in here: the routes of accounts do not exist in `local-trust`. */
export function isOff(thrown: unknown): boolean {
  return thrown instanceof ApiError && thrown.status === 404
}
