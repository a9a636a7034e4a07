import { mkdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Abilities } from '../desktop/abilities.ts'

/** What a window test sets and reads in the main process, as `globalThis.deckhandTest`. */
export type TestHooks = {
  folder: string | null
  newFile: string | null
  /** null: the person does not answer. */
  confirm: boolean | null
  opened: string[]
  openedFolders: string[]
  notifications: string[]
  questions: string[]
  /** The questions that went away unanswered. */
  withdrawn: string[]
  relaunches: number
  /** The count on the dock icon. */
  count: number
}

/**
 * A driver that connects while the first window opens hangs (microsoft/playwright#29386). So the app waits here, before it
 * opens a window, until the test resolves this. Whichever comes first creates it.
 */
if (process.env['DECKHAND_TEST_HOLD'] === '1') {
  const shared = globalThis as { deckhandTestGo?: PromiseWithResolvers<void> }
  await (shared.deckhandTestGo ??= Promise.withResolvers()).promise
}

/** Files go here instead of to the real trash, inside the data folder. */
export const TEST_TRASH = 'test-trash'

/**
 * A test cannot drive system dialogs, the browser, the trash or notifications. In test mode (DECKHAND_TEST=1) they return
 * what the test has set, and record their calls.
 */
export function stubAbilities(dataDir: string): Abilities {
  const hooks: TestHooks = {
    folder: null,
    newFile: null,
    confirm: true,
    opened: [],
    openedFolders: [],
    notifications: [],
    questions: [],
    withdrawn: [],
    relaunches: 0,
    count: 0,
  }
  ;(globalThis as { deckhandTest?: TestHooks }).deckhandTest = hooks
  return {
    pickFolder: async () => hooks.folder,
    pickNewFile: async () => hooks.newFile,
    async confirm({ message }, signal) {
      hooks.questions.push(message)
      if (hooks.confirm !== null) return hooks.confirm
      await new Promise((resolve) => signal?.addEventListener('abort', resolve))
      hooks.withdrawn.push(message)
      return false
    },
    confirmAtOnce({ message }) {
      hooks.questions.push(message)
      return hooks.confirm === true
    },
    // A test starts the app again by itself.
    relaunch: () => void hooks.relaunches++,
    async openInBrowser(url) {
      hooks.opened.push(url.href)
    },
    async openFolder(folder) {
      hooks.openedFolders.push(folder)
      return true
    },
    async moveToTrash(file) {
      mkdirSync(join(dataDir, TEST_TRASH), { recursive: true })
      renameSync(file, join(dataDir, TEST_TRASH, basename(file)))
    },
    notify: ({ title }) => void hooks.notifications.push(title),
    showCount: (count) => void (hooks.count = count),
  }
}
