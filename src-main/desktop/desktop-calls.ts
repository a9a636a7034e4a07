import { lstatSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { clipboard, ipcMain, shell } from 'electron'
import type { z } from 'zod'
import { callChannel } from '../contract/channels.ts'
import { DESKTOP_CALLS, type DesktopCallName, type DesktopState } from '../contract/desktop-api.ts'
import { readLogLines } from '../diagnostics/log-lines.ts'
import { logsDirOf, type Host } from '../host.ts'
import { MessageError } from '../message-error.ts'
import { measureData } from '../reset/own-files.ts'
import { externalUrl } from '../security/external-url.ts'
import type { Updates } from '../updates/updates.ts'
import type { Abilities } from './abilities.ts'
import { answerCall } from './answer-call.ts'
import { setLoginItem } from './login-item.ts'
import { questionOf, type Speech } from './language.ts'

type Result<N extends DesktopCallName> = z.input<(typeof DESKTOP_CALLS)[N]['result']>
type Handlers = {
  [N in DesktopCallName]: (
    argument: z.output<(typeof DESKTOP_CALLS)[N]['argument']>,
  ) => Promise<undefined extends Result<N> ? void : Result<N>>
}

/** Handles the calls of the window. Checks both sender and arguments first. */
export function handleDesktopCalls(deps: {
  host: Host
  abilities: Abilities
  state: () => DesktopState
  speech: () => Speech
  openLink: (url: string) => Promise<boolean>
  updates: Updates
  /** Deletes all data: quits, and starts again. Resolves before that. Rejects, and deletes nothing, if it cannot be requested. */
  reset: (options: { keepsBackups: boolean }) => Promise<void>
}): void {
  const { host, abilities } = deps
  const handlers: Handlers = {
    getState: async () => deps.state(),
    async changeSettings(change) {
      // The system first: a setting that failed must not look as if it were set.
      if (change.startAtLogin !== undefined) setLoginItem(change.startAtLogin)
      return host.settings.change(change)
    },
    usePort: ({ server, port }) => host.usePort(server, port),
    async replaceDatabase(replacement) {
      const agreed = await abilities.confirm(questionOf(deps.speech(), replacement === 'empty' ? 'empty' : 'restore'))
      if (agreed) await host.replaceDatabase(replacement)
      return agreed
    },
    measureData: async () => measureData(host.environment.dataDir),
    async resetData(options) {
      const agreed = await abilities.confirm(questionOf(deps.speech(), 'reset'))
      if (agreed) await deps.reset(options)
      return agreed
    },
    async restartRunner({ safeMode }) {
      await host.supervisor.restart({ safeMode })
    },
    async recheckVault() {
      const found = await host.vault.recheck()
      const runner = host.supervisor.state()
      if (found.state === 'ok' && runner.state === 'failed' && runner.code === 'vault_unavailable') void host.supervisor.restart()
      return found
    },
    async revealSecret() {
      // The desktop asks, not the page, so that nothing in the page can confirm for the person.
      return (await abilities.confirm(questionOf(deps.speech(), 'secret'))) ? host.workerSecret() : null
    },
    share: ({ on }) => host.share(on),
    encryptSharing: ({ on }) => host.encryptSharing(on),
    replaceCertificate: () => host.replaceCertificate(),
    async rotateSecret() {
      return (await abilities.confirm(questionOf(deps.speech(), 'rotate'))) ? host.rotateSecret() : null
    },
    pickFolder: () => abilities.pickFolder(),
    openExternal: ({ url }) => deps.openLink(url),
    async openSignIn({ authorizationId }) {
      // The person has clicked, and the address is ours, so nothing is asked again.
      const link = await host.dashboard.linkToSignIn(authorizationId)
      if (link === null) throw new MessageError({ code: 'sign_in_over', params: {} })
      await abilities.openInBrowser(new URL(link))
    },
    async showFolder(which) {
      const { dataDir } = host.environment
      await shell.openPath(which === 'data' ? dataDir : which === 'logs' ? logsDirOf(dataDir) : join(dataDir, 'backups'))
    },
    async showCodeFolder({ jobId }) {
      const folder = join(host.environment.dataDir, 'code', jobId)
      // A link would lead out of our folder, and to open a file is to start it.
      if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return false
      return abilities.openFolder(folder)
    },
    async saveDiagnostics() {
      const file = await abilities.pickNewFile(`deckhand-diagnostics-${new Date().toISOString().slice(0, 10)}.zip`)
      if (file !== null) await writeFile(file, await host.collectDiagnostics(), { mode: 0o600 })
      return file
    },
    copyDiagnostics: async () => clipboard.writeText(await host.summarizeDiagnostics()),
    readLogs: (query) => readLogLines(logsDirOf(host.environment.dataDir), query),
    copyText: async (text) => clipboard.writeText(text),
    // Not awaited: a download takes minutes, and the state shows it.
    update: async (action) => void deps.updates.act(action),
  }
  for (const name of Object.keys(DESKTOP_CALLS) as DesktopCallName[]) {
    const run = handlers[name] as (argument: unknown) => Promise<unknown>
    ipcMain.handle(callChannel(name), (event, argument: unknown) =>
      answerCall(name, { frame: () => event.senderFrame, argument }, run, host.log),
    )
  }
}

/** Opens a link in the browser after the person saw its host. true: it was opened. */
export async function openLinkAsking(abilities: Abilities, link: string, { t }: Speech): Promise<boolean> {
  const url = externalUrl(link)
  if (url === null) return false
  const agreed = await abilities.confirm({
    message: t('desktop.questions.openLink', { host: url.host }),
    detail: url.href.slice(0, 500),
    yes: t('desktop.questions.openLinkYes'),
    no: t('desktop.questions.openLinkNo'),
  })
  if (agreed) await abilities.openInBrowser(url)
  return agreed
}
