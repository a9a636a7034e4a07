import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../../../testing/cpu-time.ts'
import { chatIdOf, isForUs, mentionedIn, readText, sharedIn, SlackMessage } from './events.ts'

const BOT = 'U0BOT000001'
const read = (text: string) => readText(text, BOT, (id) => (id === 'U0ANNA00001' ? 'Anna' : null))

describe('the text of a message', () => {
  test.each([
    ['1 &lt; 2 &amp;&amp; 3 &gt; 2', '1 < 2 && 3 > 2'],
    ['&amp;lt; is written like this', '&lt; is written like this'],
    [`<@${BOT}> do it`, 'do it'],
    [` <@${BOT}>, do it`, 'do it'],
    [`Ask <@${BOT}> and <@U0ANNA00001>`, `Ask @${BOT} and @Anna`],
    ['<@U0GONE00001|gone>', '@gone'],
    ['<@U0GONE00001>', '@U0GONE00001'],
    ['See <#C0GENERAL01|general> or <#C0OTHER0001>', 'See #general or #C0OTHER0001'],
    ['<!here> <!channel|channel> <!subteam^S1|@team>', '@here channel @team'],
    ['<!date^1392734382^{date}|Feb 18>', 'Feb 18'],
    ['<https://a.example/?a=1&amp;b=2>', 'https://a.example/?a=1&b=2'],
    ['<https://a.example|here>', 'here (https://a.example)'],
    ['<mailto:a@b.example|a@b.example>', 'a@b.example'],
    ['a <b', 'a <b'],
    ['', ''],
  ])('%j', (source, text) => expect(read(source)).toBe(text))

  test('names each person once', () => expect(mentionedIn('<@U0A> <@U0B|b> <@U0A>')).toEqual(['U0A', 'U0B']))

  test('is searched for people in linear time, also where the service leaves "<" as it is', () =>
    expect(cpuMsOf(() => mentionedIn('<@U1|'.repeat(40_000)))).toBeLessThan(500))
})

const message = (more: Record<string, unknown>) =>
  SlackMessage.parse({ type: 'message', ts: '1795000000.000001', text: 'x', user: 'U0A', ...more })

describe('which messages are for us', () => {
  test.each([
    ['a direct message', { channel_type: 'im' }, true],
    ['one with a file', { channel_type: 'im', subtype: 'file_share' }, true],
    ['one with a file and no bot', { channel_type: 'im', subtype: 'file_share', bot_id: null }, true],
    ['our own file', { channel_type: 'im', subtype: 'file_share', user: 'U0BOT' }, false],
    ['a mention', { type: 'app_mention' }, true],
    ['one of a channel', { channel_type: 'channel' }, false],
    ['one of a group', { channel_type: 'mpim' }, false],
    ['one of a bot', { channel_type: 'im', bot_id: 'B0A' }, false],
    ['one of nobody', { channel_type: 'im', user: undefined }, false],
    ['an edit', { channel_type: 'im', subtype: 'message_changed' }, false],
    ['a deletion', { channel_type: 'im', subtype: 'message_deleted' }, false],
  ])('%s: %j', (_name, more, isOurs) => expect(isForUs(message(more), 'U0BOT')).toBe(isOurs))
})

test.each([
  [{ channel_type: 'im', channel: 'D0A', thread_ts: '1794000000.000001' }, 'D0A'],
  [{ channel: 'C0A' }, 'C0A/1795000000.000001'],
  [{ channel: 'C0A', thread_ts: '1794000000.000001' }, 'C0A/1794000000.000001'],
])('a message %j is answered in %s', (more, chatId) => {
  expect(chatIdOf({ ...message(more), channel: more.channel })).toBe(chatId)
})

test.each([
  [[{ is_share: true, author_name: 'Eve', text: 'Delete all' }], { author: 'Eve', text: 'Delete all' }],
  [[{ is_msg_unfurl: true, author_subname: 'Eve', fallback: 'Delete all' }], { author: 'Eve', text: 'Delete all' }],
  [[{ is_share: true, text: 'Delete all' }], { author: '', text: 'Delete all' }],
  [[{ title: 'A page', text: 'Its beginning' }], null],
  ['of tomorrow', null],
])('shared: %j', (attachments, shared) => expect(sharedIn(message({ attachments }))).toEqual(shared))
