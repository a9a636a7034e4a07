import { screen, within } from '@solidjs/testing-library'
import { afterEach, expect, it, vi } from 'vitest'
import type { KeptResult } from '../../../src-runner/contract/files.ts'
import { createFakeRunner, Refusal } from '../../testing/fake-runner.ts'
import { renderScreen } from '../../testing/render.tsx'
import { makeId } from '../../testing/things.ts'
import { KeptResults } from './KeptResults.tsx'

const JOB = makeId()
const PIXELS = btoa('\x89PNG pixels')

afterEach(() => vi.restoreAllMocks())

/** Results in this order, with their content as Base64. */
function open(...kept: { type: string; base64: string; tool?: string }[]) {
  const results = kept.map(({ type, base64, tool = 'notes__export' }, at): KeptResult => {
    return { number: at + 1, callId: 'c1', tool, type, size: atob(base64).length, createdAt: 1_700_000_000_000 }
  })
  const runner = createFakeRunner({
    listKeptResults: () => ({ results }),
    getKeptResult: ({ params }) => ({ result: results[params.number - 1]!, base64: kept[params.number - 1]!.base64 }),
  })
  const line = (number: number) => screen.findByRole('button', { name: new RegExp(`^Result ${number}`) })
  return { ...renderScreen(() => <KeptResults jobId={JOB} />, { runner }), line }
}

it('lists what tools returned, and loads a content only when it is opened', async () => {
  const { user, line, runner } = open({ type: 'text/plain', base64: btoa('one\ntwo') }, { type: 'image/png', base64: PIXELS })
  const second = await line(2)
  expect(second).toHaveTextContent('notes__exportimage/png · 11 bytes')
  expect(runner.callsOf('getKeptResult')).toEqual([])
  await user.click(await line(1))
  expect(await screen.findByText(/^one\s+two$/)).toBeVisible()
  expect(runner.callsOf('getKeptResult').map(({ params }) => params.number)).toEqual([1])
  await user.click(second)
  expect(await screen.findByRole('img', { name: 'Result 2' })).toHaveAttribute('src', `data:image/png;base64,${PIXELS}`)
})

it('shows nothing when nothing was kept', async () => {
  const { runner } = open()
  await expect.poll(() => runner.callsOf('listKeptResults')).toHaveLength(1)
  expect(screen.queryByRole('heading')).not.toBeInTheDocument()
})

it('shows no picture and no page that could run something', async () => {
  const script = btoa('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
  const { user, line, container } = open(
    { type: 'image/svg+xml', base64: script },
    { type: 'text/html', base64: btoa('<img src=x onerror=alert(1)>') },
    { type: 'text/html"><script>', base64: script, tool: 'notes__\u202Etropxe' },
  )
  await user.click(await line(1))
  expect(await screen.findByText('Files of this kind are not shown here.')).toBeVisible()
  await user.click(await line(2))
  expect(await screen.findByText('<img src=x onerror=alert(1)>')).toBeVisible()
  expect(await line(3)).toHaveTextContent('notes__⟨U+202E⟩tropxetext/html"><script>')
  await user.click(await line(3))
  expect(await screen.findByText(/^<svg xmlns/)).toBeVisible()
  expect(container.querySelector('img, script, iframe, object')).toBeNull()
})

it.each([
  ['image/png', 'result-1.png'],
  ['text/plain', 'result-1.txt'],
  ['application/x-msdownload', 'result-1.bin'],
  ['text/html"><script>', 'result-1.bin'],
])('saves %s as bytes that nothing opens, named %s', async (type, name) => {
  const saved: { blob: Blob; name: string }[] = []
  const blobs: Blob[] = []
  URL.createObjectURL = (blob: Blob) => `blob:${blobs.push(blob)}`
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    saved.push({ blob: blobs.at(-1)!, name: this.download })
  })
  const { user, line } = open({ type, base64: PIXELS })
  await user.click(await line(1))
  await user.click(await screen.findByRole('button', { name: 'Save' }))
  expect(saved.map(({ blob, name: given }) => [blob.type, blob.size, given])).toEqual([['application/octet-stream', 11, name]])
})

it('says why a content cannot be read', async () => {
  const result: KeptResult = { number: 1, callId: 'c1', tool: 't', type: 'text/plain', size: 3, createdAt: 1_700_000_000_000 }
  const runner = createFakeRunner({ listKeptResults: () => ({ results: [result] }), getKeptResult: () => new Refusal('internal') })
  const { user } = renderScreen(() => <KeptResults jobId={JOB} />, { runner })
  await user.click(await screen.findByRole('button', { name: /^Result 1/ }))
  const row = within((await screen.findByText('Result 1')).closest('li')!)
  expect(await row.findByRole('button', { name: 'Try again' })).toBeVisible()
  expect(row.queryByRole('button', { name: 'Save' })).not.toBeInTheDocument()
})
