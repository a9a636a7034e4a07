import type { Job } from '../contract/jobs.ts'

/** Somebody whom the person lets talk with an agent, and who is not the person. null: the job is the person's own. */
export function guestOf({ context }: Pick<Job, 'context'>): { name: string } | null {
  if (context?.['isGuest'] !== true) return null
  const name = context['personName']
  return { name: typeof name === 'string' ? name : 'somebody' }
}
