import type { DesktopState, MachineInfo } from '../contract/desktop-api.ts'
import type { Host } from '../host.ts'
import type { Updates } from '../updates/updates.ts'

/** Everything the window shows about the machine, as one value that is sent on every change. */
export function createDesktopState(host: Host, updates: Updates, info: Omit<MachineInfo, 'safeMode' | 'dataDirProblem'>) {
  const get = (): DesktopState => ({
    runner: host.supervisor.state(),
    dashboard: host.dashboardState(),
    vault: host.vault.state(),
    settings: host.settings.current(),
    sharing: host.sharing(),
    info: { ...info, dataDirProblem: host.dataDirProblem, safeMode: host.supervisor.isSafeMode() },
    updates: updates.state(),
  })
  return {
    get,
    onChange(listener: (state: DesktopState) => void): void {
      const report = () => listener(get())
      host.supervisor.onState(report)
      host.onDashboardState(report)
      host.vault.onState(report)
      host.settings.onChange(report)
      host.onSharing(report)
      updates.onState(report)
    },
  }
}
