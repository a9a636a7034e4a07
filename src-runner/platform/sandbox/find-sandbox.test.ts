import { spawnSync } from 'node:child_process'
import { englishText, quote } from '../../lib/messages.ts'
import { describe, expect, it } from 'vitest'
import { explainFailure, findSandbox, noSandbox, type MachineFacts } from './find-sandbox.ts'

const machine: MachineFacts = { inContainer: false, apparmorRestricts: false, cloneForbidden: false, maxUserNamespaces: 15_000 }
const REFUSED = 'The sandbox could not be built: bwrap: Creating new namespace failed: Operation not permitted'

describe('the reason for a missing sandbox', () => {
  it.each<[string, string, Partial<MachineFacts>, RegExp, RegExp | null]>([
    ['no user namespaces', REFUSED, { maxUserNamespaces: 0 }, /turned off/, /max_user_namespaces/],
    ['none but for root', REFUSED, { cloneForbidden: true }, /reserved for root/, /unprivileged_userns_clone=1/],
    ['a container', REFUSED, { inContainer: true }, /container does not allow/, /seccomp=unconfined/],
    ['AppArmor', 'bwrap: setting up uid map: Permission denied', { apparmorRestricts: true }, /AppArmor/, /bwrap-userns-restrict/],
    [
      'AppArmor at the network',
      'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted',
      { apparmorRestricts: true },
      /AppArmor/,
      /profile/,
    ],
    [
      'a container without a process list',
      "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
      { inContainer: true },
      /process list/,
      /systempaths/,
    ],
    ['refused by nobody known', REFUSED, {}, /cannot create namespaces: .*not permitted/, null],
    ['something else', 'bwrap: execvp /bin/sh: No such file', {}, /does not work: .*execvp/, null],
  ])('is explained: %s', (_, failure, facts, reason, advice) => {
    const explained = explainFailure(failure, { ...machine, ...facts })
    expect(englishText(explained.reason)).toMatch(reason)
    if (advice === null) expect(explained.advice).toBeNull()
    else expect(englishText(explained.advice!)).toMatch(advice)
  })
})

const BARE = ['--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', 'true']
const canBubblewrap = process.platform === 'linux' && spawnSync('bwrap', BARE).status === 0

describe('findSandbox', () => {
  // Without this test, all others would be skipped if Deckhand built its sandbox wrongly.
  it.skipIf(!canBubblewrap)('works wherever bubblewrap does', async () => {
    const { works, reason } = await findSandbox()
    expect({ works, reason }).toEqual({ works: true, reason: null })
  })

  it('returns the sandbox of this machine, or why there is none', async () => {
    const sandbox = await findSandbox()
    expect(sandbox.works).toBe(sandbox.kind !== 'none')
    if (sandbox.works) expect(sandbox).toMatchObject({ reason: null, setup: { kind: sandbox.kind } })
    else expect(englishText(sandbox.reason!)).toMatch(/\.$|:/)
  })

  it('caches its result until it is called with `again`', async () => {
    expect(await findSandbox()).toBe(await findSandbox())
    const before = await findSandbox()
    const again = await findSandbox({ again: true })
    expect(again).not.toBe(before)
    expect(again.kind).toBe(before.kind)
    expect(await findSandbox()).toBe(again)
  })

  it('describes a machine without one', () =>
    expect(noSandbox(quote('Not installed.'), quote('Install it.'))).toMatchObject({
      kind: 'none',
      works: false,
      reason: quote('Not installed.'),
      advice: quote('Install it.'),
      setup: null,
    }))
})
