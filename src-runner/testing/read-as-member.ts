import { ROUTES, type Route } from '../contract/routes.ts'
import { ROLE_HEADER } from '../contract/routes/route.ts'
import type { TestRunner } from './create-test-runner.ts'

/** What the dashboard passes on to a member: the responses of every route to read with these ids, and all events so far. */
export async function readAsMember(runner: TestRunner, ids: Record<string, string>): Promise<string> {
  const headers = { [ROLE_HEADER]: 'member' }
  const open = (Object.values(ROUTES) as Route[]).filter(
    ({ method, access, ownerOnly, stream }) => method === 'GET' && access !== 'worker' && ownerOnly !== true && stream !== true,
  )
  const shown: string[] = []
  for (const { path, query } of open) {
    const filled = path.replace(/:(\w+)/g, (whole, name: string) => ids[name] ?? whole)
    if (filled.includes(':')) continue
    const ofAgent = query !== undefined && 'agentId' in query.shape && ids['agentId'] !== undefined ? `?agentId=${ids['agentId']}` : ''
    for (const search of new Set(['', ofAgent])) shown.push(await (await fetch(runner.url + filled + search, { headers })).text())
  }
  // The stream never ends: this says that all events before it have come.
  const { agent: last } = await runner.client.ok('createAgent', { body: { name: 'Last' } })
  const over = new AbortController()
  const response = await fetch(`${runner.url}/api/events?after=0`, { headers, signal: over.signal })
  let events = ''
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    events += part
    if (events.includes(last.id)) break
  }
  over.abort()
  return shown.join('\n') + events
}
