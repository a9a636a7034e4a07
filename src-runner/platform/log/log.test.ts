import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { cpuMsOf } from '../../testing/cpu-time.ts'
import { createLog, createRunnerLog } from './create-log.ts'
import { createScrubber } from './scrubber.ts'

describe('scrubbing', () => {
  it('reads a long line once, whatever is in it', () => {
    // From each letter to the end, this would take minutes.
    const line = 'a.'.repeat(500_000)
    expect(createScrubber().scrub(`${line} https://ada:secret@host/`)).toBe(`${line} https://***@host/`)
  })

  it('removes a secret in every encoding', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 12, maxLength: 60 }).filter(isSecretLike), fc.string(), fc.string(), (secret, before, after) => {
        const scrubber = createScrubber()
        scrubber.add(secret)
        const whole = Buffer.from(before + secret + after).toString('base64')
        const bytes = Buffer.from(secret)
        for (const spelling of [
          secret,
          JSON.stringify({ secret }),
          JSON.stringify(JSON.stringify({ secret })),
          encodeURIComponent(secret),
          bytes.toString('hex'),
          bytes.toString('base64'),
          bytes.toString('base64url'),
          whole,
        ]) {
          expect(scrubber.scrub(`a ${spelling} b`)).toContain('***')
        }
        expect(scrubber.scrub(secret)).not.toContain(secret)
      }),
    )
  })

  it.each([
    ['POST /webhooks/build/abc123 failed', 'POST /webhooks/build/*** failed'],
    ['http://127.0.0.1:3001/webhooks/build/abc123?x=1', 'http://127.0.0.1:3001/webhooks/build/***?x=1'],
    ['authorization: Bearer abc.def-ghi', 'authorization: Bearer ***'],
    ['https://example.com/v1?key=AIza123&alt=sse', 'https://example.com/v1?key=***&alt=sse'],
    [
      'https://api.telegram.org/bot7000000001:AAGbWfEyDYcqkTr9vNBW0TLa8vfQbM1n4s4/getMe',
      'https://api.telegram.org/bot7000000001:***/getMe',
    ],
    ['https://me:pass@example.com/x', 'https://***@example.com/x'],
    ['nothing secret at https://example.com/a?page=2', 'nothing secret at https://example.com/a?page=2'],
  ])('removes secrets by their place: %s', (text, clean) => {
    expect(createScrubber().scrub(text)).toBe(clean)
  })

  it('removes a longer secret that contains a shorter one', () => {
    const scrubber = createScrubber()
    scrubber.add('secret-a')
    scrubber.add('secret-a-and-more')
    expect(scrubber.scrub('x secret-a-and-more y')).toBe('x *** y')
  })

  it('takes no longer with each secret that is added', () => {
    const scrubber = createScrubber()
    const secrets = Array.from({ length: 80 }, () => randomBytes(300).toString('base64url'))
    const addAll = () => {
      for (const secret of secrets) {
        scrubber.add(secret)
        expect(scrubber.scrub(`x ${secret} y`)).toBe('x *** y')
      }
    }
    expect(cpuMsOf(addAll)).toBeLessThan(500)
    for (const secret of secrets.slice(1)) scrubber.remove(secret)
    expect(scrubber.scrub(secrets.slice(0, 2).join(' '))).toBe(`*** ${secrets[1]}`)
  })
})

describe('the log', () => {
  const folders: string[] = []
  afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })))

  it('writes JSON lines without secrets, readable only by their owner', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'deckhand-log-'))
    folders.push(dataDir)
    const scrubber = createScrubber()
    scrubber.add('canary-0123456789')
    const log = createRunnerLog({ dataDir, level: 'debug', scrubber, toStderr: false })
    log.info({ nested: { key: 'canary-0123456789' } }, 'in a field')
    log.warn({ error: new Error('outer canary-0123456789', { cause: new Error('inner canary-0123456789') }) }, 'in an error')
    log.debug({}, 'in the message: canary-0123456789')
    await log.close()
    const text = readFileSync(join(dataDir, 'logs', 'runner.log'), 'utf8')
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.map((line) => [line['level'], line['msg']])).toEqual([
      ['info', 'in a field'],
      ['warn', 'in an error'],
      ['debug', 'in the message: ***'],
    ])
    expect(text).not.toContain('canary')
    if (process.platform !== 'win32') expect(statSync(join(dataDir, 'logs', 'runner.log')).mode & 0o777).toBe(0o600)
  })

  it('goes on when its file can be written again', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'deckhand-log-'))
    folders.push(dataDir)
    const file = join(dataDir, 'logs', 'runner.log')
    mkdirSync(file, { recursive: true })
    const log = createRunnerLog({ dataDir, level: 'debug', scrubber: createScrubber(), toStderr: false })
    log.info({}, 'lost')
    // When it was given up.
    await log.close()
    rmdirSync(file)
    log.info({}, 'kept')
    await expect.poll(() => (existsSync(file) ? readFileSync(file, 'utf8') : '')).toContain('kept')
    await log.close()
  })

  it('leaves out what libraries attach to their errors', () => {
    const lines: string[] = []
    const log = createLog('info', (line) => lines.push(line))
    log.error(
      { error: Object.assign(new Error('refused'), { code: 'E_REFUSED', requestBodyValues: { prompt: 'private text' } }) },
      'failed',
    )
    log.error({ error: { prompt: 'private text' } }, 'failed')
    expect(lines.join('')).not.toContain('private text')
    expect(JSON.parse(lines[0]!)).toMatchObject({ error: { name: 'Error', code: 'E_REFUSED', message: 'refused' } })
  })
})

/** Not a text of blanks or of one repeated character. */
function isSecretLike(text: string): boolean {
  return new Set(text).size >= 6 && text.trim() === text
}
