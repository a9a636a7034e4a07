import { expect, it } from 'vitest'
import { desktopEntry } from './desktop-entry.ts'

it('starts a program with any characters in its path', () => {
  expect(desktopEntry(['/opt/Deck hand/deckhand', '--hidden'])).toContain('\nExec="/opt/Deck hand/deckhand" "--hidden"\n')
  // Quoting first, then the escapes of a string value: a dollar ends up with two backslashes.
  expect(desktopEntry(['/home/a$b/100%/x'])).toContain('\nExec="/home/a\\\\$b/100%%/x"\n')
})
