/** Three examples of an agent. All of them work by listing, reading and searching files. */
export const STARTERS = ['guide', 'notes', 'editor'] as const
export type Starter = (typeof STARTERS)[number]
