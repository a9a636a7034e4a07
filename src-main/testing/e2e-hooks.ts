import { mkdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Abilities } from '../desktop/abilities.ts'

/** What a test of the whole app sets and reads in the main process, as `globalThis.deckhandTest`. */
export type TestHooks = {
  folder: string | null
  confirm: boolean
  opened: string[]
  notices: string[]
  questions: string[]
  /** On the icon in the dock. */
  count: number
}

/**
 * A driver that comes in while the first window opens waits for it for ever (microsoft/playwright#29386), so a test has
 * the app wait here, before it has a window, until it resolves this. Whichever of the two comes first makes it.
 */
if (process.env['DECKHAND_TEST_HOLD'] === '1') {
  const shared = globalThis as { deckhandTestGo?: PromiseWithResolvers<void> }
  await (shared.deckhandTestGo ??= Promise.withResolvers()).promise
}

/** Where files go in place of the trash of whoever runs the tests, inside the data folder. */
export const TEST_TRASH = 'test-trash'

/**
 * Dialogs, the browser, the trash and notifications of the system cannot be driven from a test, so in test mode
 * (DECKHAND_TEST=1) they answer what the test has set, and what they were asked is kept.
 */
export function stubAbilities(dataDir: string): Abilities {
  const hooks: TestHooks = { folder: null, confirm: true, opened: [], notices: [], questions: [], count: 0 }
  ;(globalThis as { deckhandTest?: TestHooks }).deckhandTest = hooks
  return {
    pickFolder: async () => hooks.folder,
    async confirm({ message }) {
      hooks.questions.push(message)
      return hooks.confirm
    },
    confirmAtOnce({ message }) {
      hooks.questions.push(message)
      return hooks.confirm
    },
    async openInBrowser(url) {
      hooks.opened.push(url.href)
    },
    async moveToTrash(file) {
      mkdirSync(join(dataDir, TEST_TRASH), { recursive: true })
      renameSync(file, join(dataDir, TEST_TRASH, basename(file)))
    },
    notify: ({ title }) => void hooks.notices.push(title),
    showCount: (count) => void (hooks.count = count),
  }
}
