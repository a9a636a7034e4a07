import { expect, it } from 'vitest'
import { createMemoryVault } from '../../lib/vault.ts'
import { createScrubber } from './scrubber.ts'
import { createScrubbingVault } from './scrubbing-vault.ts'

const TOKENS = JSON.stringify({
  kind: 'tokens',
  accessToken: 'access-canary-1',
  deep: { clientSecret: 'client-canary-2' },
  list: ['key-canary-3'],
})

it.each([
  [
    'set',
    async (vault: ReturnType<typeof createMemoryVault>, scrubber: ReturnType<typeof createScrubber>) =>
      createScrubbingVault(vault, scrubber).set('a', TOKENS),
  ],
  [
    'read',
    async (vault: ReturnType<typeof createMemoryVault>, scrubber: ReturnType<typeof createScrubber>) => {
      await vault.set('a', TOKENS)
      await createScrubbingVault(vault, scrubber).get('a')
    },
  ],
])('a token that was %s as part of an account appears in no log', async (_name, pass) => {
  const scrubber = createScrubber()
  await pass(createMemoryVault(), scrubber)
  const line = scrubber.scrub(`of access-canary-1, ${encodeURIComponent('client-canary-2')}, ${btoa('key-canary-3')} and tokens`)
  expect(line).not.toMatch(/canary/)
  expect(line).not.toContain(btoa('key-canary-3').slice(0, 12))
  expect(line).toContain('and tokens')
})

it('text that only looks like JSON is a secret as a whole', async () => {
  const scrubber = createScrubber()
  await createScrubbingVault(createMemoryVault(), scrubber).set('a', '{not json')
  expect(scrubber.scrub('a {not json b')).toBe('a *** b')
})

it('of an account that is renewed again and again, only the last few tokens are kept', async () => {
  const scrubber = createScrubber()
  const vault = createScrubbingVault(createMemoryVault(), scrubber)
  const tokens = [1, 2, 3, 4, 5].map((n) => `access-canary-${n}`)
  for (const accessToken of tokens) {
    await vault.set('a', JSON.stringify({ accessToken, clientSecret: 'client-canary' }))
    await vault.get('a')
  }
  expect(scrubber.scrub(`${tokens.join(' ')} client-canary`)).toBe('access-canary-1 access-canary-2 *** *** *** ***')
})
