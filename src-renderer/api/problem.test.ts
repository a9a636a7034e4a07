import { afterEach, beforeEach, expect, it } from 'vitest'
import { changeLanguage } from '../lib/language.ts'
import { ApiError } from './client.ts'
import { issueOf, problemOf, sentenceOf } from './problem.ts'

beforeEach(() => changeLanguage('de'))
afterEach(() => changeLanguage('system'))

it('describes an error code in the language of the page', () => {
  expect(problemOf(new ApiError('schedule_is_running', 409, 'A run of this schedule is still active.'))).toEqual({
    title: 'Etwas ist schiefgegangen',
    why: 'Ein Lauf dieses Zeitplans ist noch aktiv. Stoppe ihn oder warte, bis er endet.',
    code: 'schedule_is_running',
  })
  expect(problemOf(new ApiError('trigger_not_found', 404, 'There is no such webhook.'))).toMatchObject({
    title: 'Nicht gefunden',
    why: 'Diesen Webhook gibt es nicht mehr.',
  })
})

it('uses the runner’s message if there is one', () => {
  const thrown = new ApiError('channel_exists', 409, '@ada_bot is connected already, to the agent “Ada”.', [], {
    code: 'chat_account_taken',
    params: { account: '@ada_bot', agentName: 'Ada' },
  })
  expect(sentenceOf(thrown)).toBe('@ada_bot ist schon mit dem Agenten „Ada“ verbunden.')
})

it('shows words of a service as they are', () => {
  const thrown = new ApiError('channel_refused', 422, '', [], { code: 'quoted', params: { words: 'Come back on Monday.' } })
  expect(sentenceOf(thrown)).toBe('Come back on Monday.')
})

it('finds the issue of a field', () => {
  const thrown = new ApiError('invalid_request', 400, 'name: Too big', [
    { path: 'name', message: 'Too big: expected string to have <=120 characters', kind: 'too_long', limit: 120 },
    { path: 'dailyBudgetUsd', message: 'Too small: expected number to be >=0.5', kind: 'too_small', limit: 0.5 },
    {
      path: 'cron',
      message: 'There is an extra comma.',
      detail: { code: 'cron_comma', params: { field: { code: 'cron_field', params: { field: 'hour' } } } },
    },
    { path: 'odd', message: 'This is odd.' },
  ])
  expect(issueOf(thrown, 'name')).toBe('Höchstens 120 Zeichen.')
  expect(issueOf(thrown, 'dailyBudgetUsd')).toBe('Mindestens 0,5.')
  expect(issueOf(thrown, 'cron')).toBe('Im Feld „Stunde“ steht ein Komma zu viel.')
  expect(issueOf(thrown, 'odd')).toBe('This is odd.')
  expect(issueOf(thrown, 'agentId')).toBeNull()
  expect(sentenceOf(thrown)).toBe('Höchstens 120 Zeichen. · Mindestens 0,5. · Im Feld „Stunde“ steht ein Komma zu viel. · This is odd.')
})
