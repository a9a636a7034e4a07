/** What each client has open, so that one client cannot take the places of all others. */
export type Places = {
  /** Returns how to give the place back, which may be called again. null: this client has no place left. */
  take(client: string): (() => void) | null
}

export function createPlaces(mostOfAClient: number): Places {
  const taken = new Map<string, number>()
  return {
    take(client) {
      const before = taken.get(client) ?? 0
      if (before >= mostOfAClient) return null
      taken.set(client, before + 1)
      let isMine = true
      return () => {
        if (!isMine) return
        isMine = false
        const left = taken.get(client)! - 1
        if (left === 0) taken.delete(client)
        else taken.set(client, left)
      }
    },
  }
}
