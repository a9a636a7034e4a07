/**
 * Who sent a request. `entityId` undefined: the owner of this installation, who reaches everything, or with `isMember` a person of
 * its dashboard who is no owner: they see everything and open nothing of the machine. Otherwise an API client
 * that reaches one workspace, by an access token or by the session of an account.
 */
export type Caller = { entityId: undefined; isMember?: true } | LimitedCaller

export type LimitedCaller = {
  entityId: string
  /** null: an access token that the owner of this installation created. */
  userId: string | null
  /** null: a session. */
  tokenId: string | null
}

/** A name for all requests of one client, to count them apart from those of others. */
export function clientOf(caller: Caller): string {
  if (caller.entityId === undefined) return caller.isMember === true ? 'member' : 'owner'
  return JSON.stringify([caller.entityId, caller.userId, caller.tokenId])
}

export const OWNER: Caller = { entityId: undefined }
export const MEMBER: Caller = { entityId: undefined, isMember: true }

/** May open the machine to agents: its folders, and what runs in them. */
export function mayOpenMachine(caller: Caller): boolean {
  return caller.entityId === undefined && caller.isMember !== true
}
