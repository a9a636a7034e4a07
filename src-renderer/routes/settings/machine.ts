import type { MachineSettings } from '../../../src-main/contract/desktop-api.ts'
import type { Replacement } from '../../../src-runner/contract/port.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { toast } from '../../ui/Toasts.tsx'
import { failureText } from '../../lib/failure-text.ts'

/** Calls the desktop and shows an error as a toast. Does nothing in a browser. */
export function useMachine() {
  const desktop = useDesktop()
  const tell = (thrown: unknown) => toast({ tone: 'bad', text: failureText(thrown) })
  return {
    change: (settings: Partial<MachineSettings>) => void desktop.api?.changeSettings(settings).catch(tell),
    show: (folder: 'data' | 'logs' | 'backups') => void desktop.api?.showFolder(folder).catch(tell),
    /** The desktop asks first. */
    replaceDatabase: (replacement: Replacement) => void desktop.api?.replaceDatabase(replacement).catch(tell),
    restart: (safeMode: boolean) => void desktop.api?.restartRunner({ safeMode }).catch(tell),
  }
}
