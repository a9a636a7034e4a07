import type { DashboardState } from '../contract/desktop-api.ts'
import { createListeners } from '../listeners.ts'
import { messageOf, type Log } from '../log/log.ts'
import { suggestPort } from '../net/address.ts'
import { PortTakenError, startDashboardServer, type DashboardServer, type DashboardServerOptions } from './server.ts'

export type Serving = ReturnType<typeof createServing>

/** The server of the dashboard, at its present place. Starts come one after the other. */
export function createServing(place: () => DashboardServerOptions, log: Log) {
  let server: DashboardServer | null = null
  let lastStart: Promise<unknown> = Promise.resolve()
  let state: DashboardState = { state: 'failed', message: { code: 'dashboard_starting', params: {} } }
  const listeners = createListeners<[DashboardState]>()

  async function listen(): Promise<DashboardState> {
    const options = place()
    const { host, port } = options
    try {
      await server?.close()
      server = null
      server = await startDashboardServer(options)
      return { state: 'ready', dashboardUrl: server.url }
    } catch (error) {
      if (error instanceof PortTakenError) return { state: 'port_taken', port, suggestedPort: await suggestPort(host, port) }
      return { state: 'failed', message: { code: 'dashboard_cannot_listen', params: { host, port: String(port), why: messageOf(error) } } }
    }
  }

  return {
    state: () => state,
    onState: listeners.add,
    /** null: it does not listen. */
    server: () => server,
    /** Resolves when the last start has ended. */
    settled: () => lastStart,
    /** Starts the server, or starts it again. Resolves with the state; never rejects, unless `prepare` does. */
    async start(prepare?: () => Promise<void>): Promise<DashboardState> {
      const attempt = lastStart.then(prepare).then(listen)
      lastStart = attempt
      state = await attempt
      log.info({ dashboard: state }, `dashboard ${state.state}`)
      listeners.tell(state)
      return state
    },
    async close(): Promise<void> {
      await lastStart
      await server?.close()
    },
  }
}
