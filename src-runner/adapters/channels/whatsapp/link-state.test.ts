import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createKey, createLinkState, deleteLinkState, openLinkState } from './link-state.ts'
import { builtChild } from '../../../testing/built-children.ts'

/** build/test-long.mjs sets it. */
const KILLS = Number(process.env['WHATSAPP_KILLS'] ?? 20)
const CHILD = builtChild('link-state-child')

let folder: string
let file: string
const key = createKey()
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-link-'))
  file = join(folder, 'whatsapp', 'channel')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const filled = (changes: number) => {
  const state = createLinkState(file, key)
  for (let i = 1; i <= changes; i++) state.write([['number', String(i)]])
  state.close()
}
const read = (name: string) => {
  const state = openLinkState(file, key)
  const value = state?.get(name)
  state?.close()
  return state === null ? null : value
}

describe('a link state', () => {
  test('keeps each change, and says nothing to somebody without the key', () => {
    const state = createLinkState(file, key)
    state.write([
      ['secret', 'the moon is cheese'],
      ['other', 'x'],
    ])
    state.write([['other', null]])
    state.close()
    expect(read('secret')).toBe('the moon is cheese')
    expect(read('other')).toBeUndefined()
    expect(readFileSync(file, 'latin1')).not.toMatch(/secret|moon/)
    expect(openLinkState(file, createKey())).toBeNull()
    expect(statSync(file).mode & 0o077).toBe(0)
  })

  test('does not grow without end', () => {
    const state = createLinkState(file, key)
    for (let i = 0; i < 300; i++) state.write([['number', `${i}`.padEnd(10_000)]])
    state.close()
    expect(statSync(file).size).toBeLessThan(700_000)
    expect(read('number')?.trim()).toBe('299')
  })

  test('that is cut anywhere is an earlier state or none, never a part of one', () => {
    filled(3)
    const whole = readFileSync(file)
    const seen = new Set<string | null | undefined>()
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(file, whole.subarray(0, length))
      const value = read('number')
      expect([null, undefined, '1', '2', '3']).toContain(value)
      seen.add(value)
    }
    expect(seen).toEqual(new Set([null, undefined, '1', '2']))
    writeFileSync(file, '')
    expect(read('number')).toBeNull()
  })

  test('whose last change is blank, as after a power cut, is the one before', () => {
    filled(3)
    const whole = readFileSync(file)
    writeFileSync(file, Buffer.concat([whole, Buffer.alloc(4096)]))
    expect(read('number')).toBe('3')
  })

  test('that was changed, reordered or renamed is none', () => {
    filled(3)
    const whole = readFileSync(file)
    const damaged = Buffer.from(whole)
    damaged[10]! ^= 1
    writeFileSync(file, damaged)
    expect(read('number')).toBeNull()
    const first = 4 + whole.readUInt32BE(0)
    const second = first + 4 + whole.readUInt32BE(first)
    // Without its first change, the rest would be an older state with newer parts.
    writeFileSync(file, Buffer.concat([whole.subarray(0, first), whole.subarray(second)]))
    expect(read('number')).toBeNull()
    writeFileSync(join(folder, 'whatsapp', 'other'), whole)
    expect(openLinkState(join(folder, 'whatsapp', 'other'), key)).toBeNull()
  })

  test('is gone after it was deleted, with its drafts', () => {
    filled(1)
    writeFileSync(`${file}.part`, 'draft')
    deleteLinkState(file)
    expect(readdirSync(join(folder, 'whatsapp'))).toEqual([])
    deleteLinkState(file)
    expect(existsSync(file)).toBe(false)
  })

  test('stores nothing of a change that fails', () => {
    const state = createLinkState(file, key)
    state.write([['number', '1']])
    state.close()
    // The handle is closed, so writing fails.
    expect(() => state.write([['number', '2']])).toThrow()
    expect(state.get('number')).toBe('1')
    expect(read('number')).toBe('1')
  })

  test(
    `keeps every finished change over ${KILLS} kills`,
    async () => {
      createLinkState(file, key).close()
      let last = 0
      for (let kill = 0; kill < KILLS; kill++) {
        const child = spawn(process.execPath, [CHILD, file, key], { stdio: ['ignore', 'pipe', 'inherit'] })
        const lines = createInterface({ input: child.stdout })
        // Each child dies at another point of its writing.
        const until = last + 1 + ((kill * 7) % 40)
        for await (const line of lines) {
          const [number, held] = line.split(' ').map(Number) as [number, number]
          expect(held).toBe(number - 1)
          last = number
          if (number === until) child.kill('SIGKILL')
        }
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
        const number = Number(read('number'))
        // A change that was written but not reported may be there too.
        expect(number).toBeGreaterThanOrEqual(last)
        expect(read(`key ${number}`)).toBe(String(number))
        last = number
      }
    },
    KILLS * 4000,
  )

  test('is as it was if the last record was not finished', () => {
    filled(2)
    truncateSync(file, statSync(file).size - 1)
    expect(read('number')).toBe('1')
  })
})
