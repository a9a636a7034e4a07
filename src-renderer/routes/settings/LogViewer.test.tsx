import { screen } from '@solidjs/testing-library'
import { expect, it, vi } from 'vitest'
import type { DesktopApi } from '../../../src-main/contract/desktop-api.ts'
import type { LogLine, LogQuery } from '../../../src-main/contract/logs.ts'
import { renderScreen } from '../../testing/render.tsx'
import { LogViewer } from './LogViewer.tsx'

const line = (id: string, more: Partial<LogLine>): LogLine => ({
  id,
  at: 0,
  level: 'info',
  process: 'main',
  message: id,
  details: '',
  ...more,
})

it('shows the lines, asks again for another level or filter, and follows the log', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true })
  const asked: LogQuery[] = []
  let lines = [line('ready', { process: 'runner', details: '{"port":3001}' })]
  const api = { readLogs: (query: LogQuery) => (asked.push(query), Promise.resolve(lines)) } as unknown as DesktopApi
  const { user, path } = renderScreen(LogViewer, { desktop: { api } })
  expect(await screen.findByText('ready')).toBeInTheDocument()
  expect(screen.getByText('{"port":3001}')).not.toBeVisible()
  await user.click(screen.getByText('ready'))
  expect(screen.getByText('{"port":3001}')).toBeVisible()

  lines = [line('crashed', { level: 'error' }), ...lines]
  vi.advanceTimersByTime(2000)
  expect(await screen.findByText('crashed')).toBeInTheDocument()
  expect(screen.getByText('{"port":3001}'), 'stays open').toBeVisible()

  lines = []
  await user.type(screen.getByLabelText('Filter'), 'x')
  expect(await screen.findByText('Nothing matches.')).toBeInTheDocument()
  expect(asked.at(-1)).toEqual({ level: 'info', text: 'x' })
  expect(path()).toBe('/?log=x')
  vi.useRealTimers()
})

it('keeps its filter over a reload', async () => {
  const asked: LogQuery[] = []
  const api = { readLogs: (query: LogQuery) => (asked.push(query), Promise.resolve([])) } as unknown as DesktopApi
  renderScreen(LogViewer, { desktop: { api }, path: '/?log=tunnel&logLevel=error' })
  expect(await screen.findByText('Nothing matches.')).toBeInTheDocument()
  expect(screen.getByLabelText('Filter')).toHaveValue('tunnel')
  expect(asked).toEqual([{ level: 'error', text: 'tunnel' }])
})

it('is not shown in a browser', () => {
  renderScreen(LogViewer)
  expect(screen.queryByText('Log')).not.toBeInTheDocument()
})
