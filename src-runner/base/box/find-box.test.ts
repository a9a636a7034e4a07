import { describe, expect, it } from 'vitest'
import { explainFailure, findBox, noBox, type MachineFacts } from './find-box.ts'

const machine: MachineFacts = { inContainer: false, apparmorRestricts: false, cloneForbidden: false, maxUserNamespaces: 15_000 }
const REFUSED = 'The box could not be built: bwrap: Creating new namespace failed: Operation not permitted'

describe('why there is no box', () => {
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
    ['refused by nobody known', REFUSED, {}, /may not make namespaces: .*not permitted/, null],
    ['something else', 'bwrap: execvp /bin/sh: No such file', {}, /does not work: .*execvp/, null],
  ])('is told: %s', (_, failure, facts, reason, advice) => {
    const told = explainFailure(failure, { ...machine, ...facts })
    expect(told.reason).toMatch(reason)
    if (advice === null) expect(told.advice).toBeNull()
    else expect(told.advice).toMatch(advice)
  })
})

describe('findBox', () => {
  it('says which box there is, or why there is none', async () => {
    const box = await findBox()
    expect(box.works).toBe(box.kind !== 'none')
    if (box.works) expect(box).toMatchObject({ reason: null, setup: { kind: box.kind } })
    else expect(box.reason).toMatch(/\.$|:/)
  })

  it('looks once, and anew when asked to', async () => {
    expect(await findBox()).toBe(await findBox())
    const before = await findBox()
    const again = await findBox({ again: true })
    expect(again).not.toBe(before)
    expect(again.kind).toBe(before.kind)
    expect(await findBox()).toBe(again)
  })

  it('describes a machine without one', () =>
    expect(noBox('Not installed.', 'Install it.')).toMatchObject({
      kind: 'none',
      works: false,
      reason: 'Not installed.',
      advice: 'Install it.',
      setup: null,
    }))
})
