import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import Database from 'better-sqlite3'
import { REBOUND, startBrowser, type Browser } from '../fixtures/browser.ts'
import { expect, test as base } from '../fixtures/deckhand.ts'

const test = base.extend<{ elsewhere: Browser }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of what a fixture needs from here.
  elsewhere: async ({}, use) => {
    const browser = await startBrowser()
    await use(browser)
    await browser.close()
  },
})

/** Another program with a page of its own. */
async function serveElsewhere(host: string, port = 0): Promise<{ server: Server; port: number }> {
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<h1>Elsewhere</h1>'))
  server.listen(port, host)
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

/** What a hostile script tries at an address: to read, to change, and to send what needs no permission. */
async function attack(page: Page, url: string): Promise<string[]> {
  return page.evaluate(async (base) => {
    const seen = async (call: Promise<Response>) =>
      call.then(
        async (answer) => `${answer.status} ${(await answer.text()).slice(0, 30)}`,
        () => 'blocked',
      )
    const json = { 'content-type': 'application/json' }
    await fetch(`${base}/api/agents`, { method: 'POST', mode: 'no-cors', body: '{"name":"Intruder"}' }).catch(() => null)
    await fetch(`${base}/api/cron`, { method: 'POST', mode: 'no-cors' }).catch(() => null)
    return Promise.all([
      seen(fetch(`${base}/api/agents`)),
      seen(fetch(`${base}/api/agents`, { method: 'POST', headers: json, body: '{"name":"Intruder"}' })),
      seen(fetch(`${base}/api/approvals`, { credentials: 'include' })),
    ])
  }, url)
}

/** Forms, a picture, a frame and a WebSocket, which CORS does not stop. Returns what came of each. */
async function attackWithElements(page: Page, url: string): Promise<string[]> {
  const seen = await page.evaluate(async (base) => {
    const root = base === '' ? location.origin : base
    const loaded = (element: HTMLElement) =>
      new Promise<string>((resolve) => {
        element.addEventListener('load', () => resolve('loaded'))
        element.addEventListener('error', () => resolve('blocked'))
      })
    const frame = (name: string, src: string) => {
      const made = Object.assign(document.createElement('iframe'), { name, src })
      const until = loaded(made)
      document.body.append(made)
      return { made, until }
    }
    const target = frame('target', 'about:blank')
    await target.until
    for (const [enctype, name, value] of [
      ['text/plain', '{"name":"Intruder","x":"', '"}'],
      ['application/x-www-form-urlencoded', 'name', 'Intruder'],
    ] as const) {
      const form = Object.assign(document.createElement('form'), {
        method: 'POST',
        action: `${root}/api/agents`,
        target: 'target',
        enctype,
      })
      form.append(Object.assign(document.createElement('input'), { name, value }))
      document.body.append(form)
      const sent = loaded(target.made)
      form.submit()
      await sent
    }
    const image = document.createElement('img')
    const shown = loaded(image)
    image.src = `${root}/api/agents`
    const shell = frame('shell', `${root}/`)
    await shell.until
    const socket = new WebSocket(`${root.replace(/^http/, 'ws')}/api/events`)
    const opened = new Promise<string>((resolve) => {
      socket.onopen = () => resolve('opened')
      socket.onerror = () => resolve('blocked')
    })
    return [`image ${await shown}`, `socket ${await opened}`, `frame ${shell.made.contentDocument === null ? 'closed' : 'readable'}`]
  }, url)
  // The browser shows its own page in place of a frame that it refuses. What a frame does show is a refusal.
  const [, ...frames] = page.frames()
  const texts = await Promise.all(frames.map((frame) => frame.evaluate(() => document.body.textContent).catch(() => '')))
  for (const [at, frame] of frames.entries()) {
    if (/^(about:|chrome-error:)/.test(frame.url())) texts[at] = ''
    await frame.parentFrame()?.evaluate((name) => document.querySelector(`iframe[name="${name}"]`)?.remove(), frame.name())
  }
  return [...seen, ...texts.filter((text) => text !== '').map((text) => `shown ${text}`)]
}

const REFUSED = /^(image blocked|socket blocked|frame closed|shown (Elsewhere|\{"error":"\w+"\}))$/
const notRefused = async (outcomes: Promise<string[]>) => (await outcomes).filter((outcome) => !REFUSED.test(outcome))

/** What is stored, table by table. The clock writes by itself. */
function digestOf(dataDir: string): Record<string, string> {
  const db = new Database(join(dataDir, 'deckhand.db'), { readonly: true })
  try {
    const tables = db
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name <> 'trusted_clock'")
      .pluck()
      .all()
    const digest = (table: string) =>
      createHash('sha256')
        .update(JSON.stringify(db.prepare(`SELECT * FROM "${table}"`).raw().all()))
        .digest('hex')
    return Object.fromEntries(tables.map((table) => [table, digest(table)]))
  } finally {
    db.close()
  }
}

test('a browser gets access by a link, and a tab that another program left behind gets none', async ({ deckhand, elsewhere: browser }) => {
  const { dashboardUrl } = deckhand
  const port = Number(new URL(dashboardUrl).port)
  await deckhand.quit()
  const other = await serveElsewhere('127.0.0.1', port)
  const left = await browser.openTab(`${dashboardUrl}/`)
  await expect(left.getByRole('heading', { name: 'Elsewhere' })).toBeVisible()
  const rebound = await browser.openTab(`http://${REBOUND}:${port}/`)
  other.server.closeAllConnections()
  other.server.close()
  await deckhand.start({ DASHBOARD_PORT: String(port) })
  const before = digestOf(deckhand.dataDir)
  const refused = Array(3).fill('401 {"error":"link_required"}')
  expect(await attack(left, '')).toEqual(refused)
  expect(await notRefused(attackWithElements(left, ''))).toEqual([])

  // The name of another page leads here by now.
  expect(await attack(rebound, '')).toEqual(Array(3).fill('403 {"error":"forbidden_host"}'))
  expect(await notRefused(attackWithElements(rebound, ''))).toEqual([])
  expect(digestOf(deckhand.dataDir)).toEqual(before)

  const stranger = await browser.openTab(`${dashboardUrl}/jobs`)
  await expect(stranger.getByRole('heading', { name: 'Open Deckhand from its menu' })).toBeVisible()

  await deckhand.app.evaluate(({ Menu }) => {
    const items = Menu.getApplicationMenu()!.items.flatMap(({ submenu }) => submenu?.items ?? [])
    items.find(({ label }) => label === 'Open in Browser')!.click()
  })
  await expect.poll(async () => (await deckhand.hooks()).opened).toHaveLength(1)
  const [link] = (await deckhand.hooks()).opened
  expect(link).toMatch(new RegExp(`^${dashboardUrl}/#open=`))
  const page = await browser.openTab(link!)
  await expect(page.getByRole('heading', { name: 'Choose a model' })).toBeVisible()
  expect(page.url()).not.toContain('open=')
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Choose a model' })).toBeVisible()

  // The tab has the cookie now, but not the key of the page, and cannot get it from a page that it opens.
  expect(await attack(left, '')).toEqual(refused)
  const stolen = await left.evaluate(async () => {
    const html = await (await fetch('/', { headers: { accept: 'text/html' } })).text()
    const frame = document.createElement('iframe')
    frame.src = '/'
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve))
    document.body.append(frame)
    await loaded
    return [html.includes('deckhand-page'), frame.contentDocument === null, JSON.stringify(sessionStorage)]
  })
  expect(stolen).toEqual([false, true, '{}'])

  const again = await browser.openTab(link!)
  await expect(again.getByRole('heading', { name: 'Choose a model' })).toBeVisible()
  expect((await deckhand.client.ok('listAgents')).agents).toEqual([])
})

test('no page of another origin reads or changes anything', async ({ deckhand, elsewhere: browser }) => {
  const { dashboardUrl, runnerUrl } = deckhand
  const { port } = new URL(dashboardUrl)
  await deckhand.client.ok('createAgent', { body: { name: 'Ada' } })
  const before = digestOf(deckhand.dataDir)
  const third = await serveElsewhere('127.0.0.1')
  const sixth = await serveElsewhere('::1', Number(port)).catch(() => null)
  if (sixth === null) console.log('skipped: this machine has no IPv6 address ::1, so no page of it was tried')
  const pages = [`http://127.0.0.1:${third.port}/`, `http://localhost:${third.port}/`, ...(sixth ? [`http://[::1]:${port}/`] : [])]
  for (const address of pages) {
    const page = await browser.openTab(address)
    for (const url of [dashboardUrl, runnerUrl, `http://localhost:${port}`]) {
      const seen = await attack(page, url)
      expect([address, url, seen.filter((what) => !/^(blocked|200 <h1>Elsewhere)/.test(what))]).toEqual([address, url, []])
      expect([address, url, await notRefused(attackWithElements(page, url))]).toEqual([address, url, []])
    }
  }
  // A name of somebody else that leads here: no page is served.
  for (const url of [dashboardUrl, runnerUrl]) {
    const rebound = await browser.openTab(url.replace('127.0.0.1', REBOUND))
    await expect(rebound.getByText('forbidden_host')).toBeVisible()
  }
  expect(digestOf(deckhand.dataDir)).toEqual(before)
  for (const made of [third, sixth]) made?.server.closeAllConnections()
  for (const made of [third, sixth]) made?.server.close()
})
