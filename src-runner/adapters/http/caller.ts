/**
 * Who sent a request. `entityId` undefined: the owner of this installation, who reaches everything. Otherwise an API client
 * that reaches one workspace, by an access token or by the session of an account.
 */
export type Caller = { entityId: undefined } | LimitedCaller

export type LimitedCaller = {
  entityId: string
  /** null: an access token that the owner of this installation created. */
  userId: string | null
  /** null: a session. */
  tokenId: string | null
}

export const OWNER: Caller = { entityId: undefined }
