import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { relaunch } from './relaunch.ts'

const appOf = (isPackaged: boolean) => ({ isPackaged, getAppPath: () => '/src/deckhand', relaunch: vi.fn<(options?: object) => void>() })

afterEach(() => void vi.unstubAllEnvs())

describe('starting again', () => {
  it('does not open the link of this start again, or stay hidden, and keeps its switches', () => {
    vi.stubEnv('APPIMAGE', undefined)
    const argv = ['/opt/deckhand', '--no-sandbox', '--hidden', '--ozone-platform=wayland', '--', 'deckhand://open/chat']
    const packaged = appOf(true)
    relaunch(packaged, argv)
    expect(packaged.relaunch.mock.calls).toEqual([[{ args: ['--no-sandbox', '--ozone-platform=wayland'] }]])
    const development = appOf(false)
    relaunch(development, ['/electron', '--no-sandbox', '/src/deckhand'])
    expect(development.relaunch.mock.calls).toEqual([[{ args: ['--no-sandbox', '/src/deckhand'] }]])
  })

  it.skipIf(process.platform === 'win32')('starts the file of an AppImage, because what runs is in a mount that goes away', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-relaunch-'))
    const file = join(folder, 'Deckhand.AppImage')
    writeFileSync(file, '#!/bin/sh\necho "$# arguments, in $APPDIR" > "$0.part"\nmv "$0.part" "$0.ran"\n')
    chmodSync(file, 0o755)
    vi.stubEnv('APPIMAGE', file)
    vi.stubEnv('APPDIR', '/tmp/.mount_Deckhand')
    const app = appOf(true)
    relaunch(app)
    await expect.poll(() => existsSync(`${file}.ran`)).toBe(true)
    expect(readFileSync(`${file}.ran`, 'utf8')).toBe('0 arguments, in \n')
    expect(app.relaunch).not.toHaveBeenCalled()
    rmSync(folder, { recursive: true })

    const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    relaunch(app)
    await expect.poll(() => told.mock.calls.join()).toContain(`${file} cannot be started`)
    told.mockRestore()
  })
})
