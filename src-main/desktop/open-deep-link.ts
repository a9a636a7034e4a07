import type { DesktopCommand } from '../contract/desktop-api.ts'
import type { Log } from '../log/log.ts'
import type { Abilities } from './abilities.ts'
import { parseDeepLink } from './deep-link.ts'
import type { Speech } from './language.ts'

const MAX_SHOWN = 800

/** Follows links from outside, one question at a time: a page that opens a hundred links gets one dialog. */
export function createLinkFollower(deps: {
  abilities: () => Pick<Abilities, 'confirm'>
  speech: () => Speech
  window: { show(): void; command(command: DesktopCommand): void }
  log: Log
}): (link: string) => Promise<void> {
  let asking = false

  return async (text) => {
    const link = parseDeepLink(text)
    if (link === null) {
      deps.log.warn({ length: text.length }, 'a link from outside was refused')
      return deps.window.show()
    }
    if (link.kind === 'open') return deps.window.command({ command: 'go', path: link.path })
    if (asking) return
    asking = true
    try {
      const { t } = deps.speech()
      const shown = link.text.length > MAX_SHOWN ? `${link.text.slice(0, MAX_SHOWN)}…` : link.text
      const agreed = await deps.abilities().confirm({
        message: t('desktop.questions.task'),
        detail: `${t('desktop.questions.taskText')}\n\n${shown}`,
        yes: t('desktop.questions.taskYes'),
        no: t('desktop.questions.taskNo'),
      })
      if (agreed) deps.window.command({ command: 'task', text: link.text })
    } finally {
      asking = false
    }
  }
}
