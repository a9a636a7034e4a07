import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMainLog } from './main-log.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-log-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const text = () => readFileSync(join(folder, 'main.log'), 'utf8')

describe('the log', () => {
  it('keeps lines of the current level in a file that only its owner can read', async () => {
    const log = createMainLog({ folder, level: 'info' })
    log.debug({}, 'below the level')
    log.info({ port: 3001 }, 'loud enough')
    log.setLevel('debug')
    log.debug({}, 'now heard')
    await log.close()
    expect(text()).not.toContain('below the level')
    expect(
      text()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject([{ msg: 'loud enough', port: 3001, process: 'main' }, { msg: 'now heard' }])
    if (process.platform !== 'win32') expect(statSync(join(folder, 'main.log')).mode & 0o077).toBe(0)
  })

  it('removes secrets anywhere in a line, in the file and in the echo', async () => {
    const echo = new PassThrough()
    const log = createMainLog({ folder, level: 'info', echo })
    log.hide('canary-canary')
    log.info({ url: 'http://x/canary-canary/y', deep: { list: ['canary-canary'] } }, 'text canary-canary')
    await log.close()
    expect(text()).not.toContain('canary')
    expect(String(echo.read())).not.toContain('canary')
    expect(text()).toContain('http://x/[secret]/y')
  })

  it.each([
    ['with quotes, which a line escapes', (secret: string) => secret],
    ['in JSON', (secret: string) => JSON.stringify({ text: secret })],
    ['in a URL', (secret: string) => `http://x/?a=${encodeURIComponent(secret)}`],
    ['in hex', (secret: string) => Buffer.from(secret).toString('hex')],
    ...[0, 1, 2].flatMap((offset) =>
      (['base64', 'base64url'] as const).map(
        (encoding) =>
          [
            `in ${encoding} after ${offset} other bytes`,
            (secret: string) => Buffer.from(`${'a'.repeat(offset)}${secret}zz`).toString(encoding),
          ] as const,
      ),
    ),
  ] as const)('removes a secret %s', async (_, spell) => {
    const secret = 'can"ary\\key/with?ü>>>and-more'
    const spelled = spell(secret)
    const log = createMainLog({ folder, level: 'info' })
    log.hide('can"ary\\key')
    log.hide(secret)
    log.info({ deep: [spelled] }, `text ${spelled}`)
    await log.close()
    const { deep, msg } = JSON.parse(text()) as { deep: string[]; msg: string }
    for (const shown of [deep[0]!, msg]) {
      expect(shown).toContain('[secret]')
      // In Base64, the letters at both ends also hold bits of the neighbouring bytes.
      expect(shown.replaceAll('[secret]', '').length).toBeLessThan(24)
    }
  })

  it('goes on when its file can be written again', async () => {
    const file = join(folder, 'main.log')
    mkdirSync(file)
    const log = createMainLog({ folder, level: 'info' })
    log.info({}, 'lost')
    // When it was given up.
    await log.close()
    rmdirSync(file)
    log.info({}, 'kept')
    await expect.poll(() => (existsSync(file) ? text() : '')).toContain('kept')
    await log.close()
  })

  it('has a limited size', async () => {
    const log = createMainLog({ folder, level: 'info' })
    const line = 'x'.repeat(100_000)
    for (let i = 0; i < 400; i++) log.info({ i }, line)
    await log.close()
    const sizes = readdirSync(folder)
      .filter((name) => name.includes('main.log'))
      .map((name) => statSync(join(folder, name)).size)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(30_000_000)
  })
})
