import type { App } from 'electron'
import { messageOf } from '../log/log.ts'
import { leave, type Host } from '../host.ts'
import type { Abilities } from './abilities.ts'
import type { Speech } from './language.ts'
import { relaunch } from './relaunch.ts'

/** If the updater of macOS has not ended the app by then, the present version starts again, and says so. */
const REPLACE_LIMIT_MS = 120_000

export type Quit = {
  /** Asks first when jobs are running. `declined` is called if the person then does not want to quit. */
  ask(declined?: () => void): void
  /** Quits without asking: a signal, the end of the session. */
  now(): void
  /** Quits without asking. `last` is called when everything has stopped: it replaces the app. true: and ends it. */
  with(last: () => boolean): Promise<void>
  isQuitting(): boolean
}

/**
 * The one way to quit, for the menu, the tray, the dock and signals. Names the running jobs first, then stops the servers
 * in order, then ends the process.
 */
export function createQuit(
  app: App,
  host: Host,
  abilities: () => Abilities,
  speech: () => Speech,
  /** What remains to be done when the person quits; null: nothing. */
  prepare: () => Promise<(() => boolean) | null>,
): Quit {
  let quitting = false
  let asking = false
  let stopped = false

  async function stopAndLeave(last: (() => boolean) | null = null): Promise<void> {
    if (quitting) return
    quitting = true
    await host.stop().catch((error: unknown) => process.stderr.write(`deckhand: ${messageOf(error)}\n`))
    stopped = true
    if (last === null || !replaceApp(last)) return leave(host, () => app.quit())
    setTimeout(() => {
      relaunch(app)
      leave(host, () => app.quit())
    }, REPLACE_LIMIT_MS)
  }

  function replaceApp(last: () => boolean): boolean {
    // The new version starts before this one has ended, and must not take it for a second instance.
    app.releaseSingleInstanceLock()
    try {
      return last()
    } catch (error) {
      process.stderr.write(`deckhand: the update could not be installed: ${messageOf(error)}\n`)
      relaunch(app)
      return false
    }
  }

  async function ask(declined?: () => void): Promise<void> {
    if (asking || quitting) return
    const { jobs } = host.supervisor.running()
    if (jobs.length === 0) return prepareAndLeave()
    asking = true
    const titles = jobs.slice(0, 5).map((job) => job.title)
    const agreed = await abilities().confirm({
      message: speech().t('desktop.questions.quit', { count: jobs.length }),
      detail: `${titles.join('\n')}\n\n${speech().t('desktop.questions.quitText')}`,
      yes: speech().t('desktop.questions.quitYes'),
      no: speech().t('desktop.questions.quitNo'),
    })
    asking = false
    if (agreed) await prepareAndLeave()
    else declined?.()
  }

  async function prepareAndLeave(): Promise<void> {
    asking = true
    await stopAndLeave(await prepare())
  }

  app.on('before-quit', (event) => {
    if (stopped) return
    event.preventDefault()
    void ask()
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stopAndLeave())
  return { ask: (declined) => void ask(declined), now: () => void stopAndLeave(), with: stopAndLeave, isQuitting: () => quitting }
}
