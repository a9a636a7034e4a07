import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../../../testing/cpu-time.ts'
import { joinAlbums, readUpdates } from './updates.ts'

const ANNA = { id: 4711, is_bot: false, first_name: 'Anna', last_name: 'Berg', username: 'anna_berg' }
const BEN = { id: 4712, is_bot: false, first_name: 'Ben' }
const BOT = { id: 99, is_bot: true, first_name: 'Gifs', username: 'gif' }
const PRIVATE = { id: ANNA.id, type: 'private', first_name: 'Anna' }
const GROUP = { id: -1_001_234, type: 'supergroup', title: 'A group' }
const noFile = async () => ({ problem: 'there are no files here' })

const read = (...updates: Record<string, unknown>[]) =>
  readUpdates(
    updates.map((update, i) => ({ update_id: i + 1, ...update })),
    noFile,
  )!
/** A private message with this content. */
const message = (content: Record<string, unknown>) => ({ message: { message_id: 7, date: 0, from: ANNA, chat: PRIVATE, ...content } })
const readMessage = (content: Record<string, unknown>) => read(message(content))[0]!.message

describe('skips an update without content for the agent', () => {
  test.each<[string, Record<string, unknown>]>([
    ['a message in a group', message({ chat: GROUP, text: 'hello' })],
    ['a command to the bot in a group', message({ chat: GROUP, text: '/stop@my_bot' })],
    [
      'an anonymous admin of a group',
      message({ chat: GROUP, from: { ...BOT, username: 'GroupAnonymousBot' }, sender_chat: GROUP, text: '/stop' }),
    ],
    [
      'a channel that speaks in a group',
      message({ chat: GROUP, from: { ...BOT, username: 'Channel_Bot' }, sender_chat: { id: -5, type: 'channel' }, text: 'x' }),
    ],
    ['a post in a channel', { channel_post: { message_id: 1, chat: { id: -5, type: 'channel' }, text: 'x' } }],
    ['a message without a sender', { message: { message_id: 1, chat: { id: -5, type: 'channel' }, text: 'x' } }],
    ['a group that moves', message({ chat: { ...GROUP, type: 'group' }, migrate_to_chat_id: -1_005 })],
    ['the group that it moved to', message({ chat: GROUP, migrate_from_chat_id: -12 })],
    ['being made a member of a group', { my_chat_member: { chat: GROUP, from: ANNA, new_chat_member: { status: 'member' } } }],
    ['being blocked', { my_chat_member: { chat: PRIVATE, from: ANNA, new_chat_member: { status: 'kicked' } } }],
    ['a message that was edited', { edited_message: message({ text: 'approve 7F3K', edit_date: 1 }).message }],
    ['a message of a business account', { business_message: message({ text: 'x' }).message }],
    ['messages that were deleted', { deleted_business_messages: { chat: PRIVATE, message_ids: [1] } }],
    ['a reaction', { message_reaction: { chat: PRIVATE, message_id: 1, user: ANNA, new_reaction: [] } }],
    ['another bot', message({ from: BOT, text: 'x' })],
    ['something that was pinned', message({ pinned_message: { message_id: 1 } })],
    ['a photo of no size', message({ photo: [] })],
    ['a message of another form', message({ message_id: 'seven', text: 'x' })],
    ['a press in a group', { callback_query: { id: '1', from: ANNA, data: 'approve:1', message: { message_id: 1, chat: GROUP } } }],
    [
      'a press below a message that was sent through the bot',
      { callback_query: { id: '1', from: ANNA, data: 'x', inline_message_id: 'i' } },
    ],
    ['a press of a bot', { callback_query: { id: '1', from: BOT, data: 'x', message: { message_id: 1, chat: PRIVATE } } }],
  ])('%s', (_name, update) => {
    expect(read(update)).toEqual([{ updateId: 1, album: null }])
  })
})

test('reads a button press below an old message, with data of any length', () => {
  const data = 'x'.repeat(10_000)
  const press = { callback_query: { id: '1', from: ANNA, data, message: { message_id: 1, date: 0, chat: PRIVATE } } }
  expect(read(press)[0]!.press).toMatchObject({ pressId: '1', action: data, sender: { externalId: '4711', chatId: '4711' } })
})

describe('messages without text', () => {
  const file = { file_id: 'f', file_unique_id: 'f', file_size: 5 }
  test.each<[string, Record<string, unknown>, string[]]>([
    ['a voice message', { voice: file }, ['voice-7.ogg']],
    ['a photo, the largest of its sizes', { photo: [{ ...file, file_size: 1 }, file] }, ['photo-7.jpg']],
    ['a document', { document: { ...file, file_name: 'a.pdf' } }, ['a.pdf']],
    ['a document without a name', { document: file }, ['document-7']],
    ['music', { audio: { ...file, file_name: 'a.mp3' } }, ['a.mp3']],
    ['a video', { video: file }, ['video-7.mp4']],
    ['a round video', { video_note: file }, ['video-7.mp4']],
    ['a moving picture', { animation: file, document: { ...file, file_name: 'a.mp4' } }, ['a.mp4']],
  ])('%s is a file', (_name, content, names) => {
    const read = readMessage(content)!
    expect(read).toMatchObject({ text: '', unreadable: null })
    expect(read.files.map(({ name, size }) => [name, size])).toEqual(names.map((name) => [name, 5]))
  })

  test.each([
    ['a sticker', { sticker: { emoji: '👍' } }, '👍'],
    ['a place', { location: { latitude: 52.5, longitude: 13.4 } }, 'Location: 52.5, 13.4'],
    [
      'a venue',
      { venue: { title: 'Café', address: 'Street 1' }, location: { latitude: 1, longitude: 2 } },
      'Café, Street 1\nLocation: 1, 2',
    ],
    ['a contact', { contact: { phone_number: '+49', first_name: 'Ben' } }, 'Contact: Ben, +49'],
  ])('%s is read as text', (_name, content, text) => {
    expect(readMessage(content)).toMatchObject({ text, files: [], unreadable: null })
  })

  test.each([
    ['sticker', { sticker: {} }],
    ['poll', { poll: {} }],
    ['dice', { dice: { emoji: '🎲', value: 3 } }],
    ['story', { story: {} }],
  ])('a %s is named as unreadable', (unreadable, content) => {
    expect(readMessage(content)).toMatchObject({ text: '', files: [], unreadable })
  })
})

test('says which messages hold words that others may have chosen', () => {
  const [file, named] = [{ file_id: 'f' }, { file_id: 'f', file_name: 'a' }]
  const contact = { phone_number: '+49', first_name: 'Ben' }
  const location = { latitude: 1, longitude: 2 }
  for (const content of [
    { document: named },
    { audio: named },
    { video: named },
    { contact },
    { venue: { title: '', address: '' }, location },
  ])
    expect(readMessage(content)).toHaveProperty('quotesOthers', true)
  for (const content of [{ text: 'Hi' }, { photo: [file] }, { voice: file }, { document: file }, { location }])
    expect(readMessage(content)).not.toHaveProperty('quotesOthers')
})

test('reads a caption as the text of its file', () => {
  expect(readMessage({ caption: 'Look', photo: [{ file_id: 'f' }] })).toMatchObject({ text: 'Look', files: [{ name: 'photo-7.jpg' }] })
})

test('writes the address of a link if it differs from the text', () => {
  const text = '😀 this and https://b.example/'
  const entities = [
    { type: 'bold', offset: 3, length: 4 },
    { type: 'text_link', offset: 3, length: 4, url: 'https://a.example/?x=1' },
    { type: 'text_link', offset: 12, length: 18, url: 'https://b.example/' },
    { type: 'text_link', offset: 90, length: 4, url: 'https://c.example/' },
    { type: 'url', offset: 12, length: 18 },
  ]
  const written = '😀 this (https://a.example/?x=1) and https://b.example/'
  expect(readMessage({ text, entities })!.text).toBe(written)
  expect(readMessage({ caption: text, caption_entities: entities, document: { file_id: 'f' } })!.text).toBe(written)
  expect(readMessage({ text: 'x', entities: 'of tomorrow' })!.text).toBe('x')
})

test('writes the addresses of many links in linear time', () => {
  const entities = Array.from({ length: 30_000 }, (_, i) => ({ type: 'text_link', offset: i * 10, length: 2, url: 'https://a.example/' }))
  expect(cpuMsOf(() => readMessage({ text: 'x'.repeat(300_000), entities }))).toBeLessThan(2000)
})

test('reads which message a reply answers, without its text', () => {
  const reply = { message_id: 3, date: 1, chat: PRIVATE, from: BEN, text: 'approve everything' }
  expect(readMessage({ text: 'yes', reply_to_message: reply })).toMatchObject({ text: 'yes', replyTo: '3', forwardedFrom: null })
})

describe('the author of a message', () => {
  test.each<[string, Record<string, unknown>, string | null]>([
    ['one’s own', {}, null],
    ['sent on by oneself', { forward_origin: { type: 'user', sender_user: ANNA } }, null],
    ['of somebody else', { forward_origin: { type: 'user', sender_user: BEN } }, 'Ben'],
    ['of a bot', { forward_origin: { type: 'user', sender_user: BOT } }, 'Gifs'],
    ['of somebody who hides', { forward_origin: { type: 'hidden_user', sender_user_name: 'Eve' } }, 'Eve'],
    ['of an anonymous admin', { forward_origin: { type: 'chat', sender_chat: { title: 'Admins' } } }, 'Admins'],
    ['of a channel', { forward_origin: { type: 'channel', chat: { title: 'News' } } }, 'News'],
    [
      'of one whose name goes on',
      { forward_origin: { type: 'hidden_user', sender_user_name: 'Eve,\n\nnot mine:\u202e' } },
      'Eve, not mine:',
    ],
    ['of one with an endless name', { forward_origin: { type: 'chat', sender_chat: { title: 'x'.repeat(5000) } } }, 'x'.repeat(64)],
    ['of a kind that comes later', { forward_origin: { type: 'planet' } }, 'somebody'],
    ['of a form that comes later', { forward_origin: 'a planet' }, 'somebody'],
    ['as older servers say it', { forward_date: 1, forward_from: { ...BEN, last_name: 'Ash' } }, 'Ben Ash'],
    ['as older servers say it of who hides', { forward_date: 1, forward_sender_name: 'Eve' }, 'Eve'],
    ['as older servers say it of a channel', { forward_date: 1, forward_from_chat: { id: -5 } }, 'somebody'],
    ['put together by a bot that was asked in the chat', { via_bot: BOT }, 'the bot @gif'],
    ['written by a bot in their name', { sender_business_bot: { ...BOT, username: undefined } }, 'the bot Gifs'],
  ])('%s', (_name, content, forwardedFrom) => {
    expect(readMessage({ text: 'x', ...content })!.forwardedFrom).toBe(forwardedFrom)
  })
})

describe('an album', () => {
  const picture = (id: number, more: Record<string, unknown> = {}) =>
    message({ message_id: id, media_group_id: 'trip', photo: [{ file_id: `f${id}` }], ...more })
  const join = (...updates: Record<string, unknown>[]) =>
    joinAlbums(read(...updates)).map((update) => [update.updateId, update.message?.text, update.message?.files.length])

  test('is joined into one message', () => {
    expect(join(picture(1), picture(2, { caption: 'The trip' }), picture(3))).toEqual([[3, 'The trip', 3]])
  })

  test('is not joined with another album, sender or author', () => {
    const other = { media_group_id: 'home' }
    const ben = { from: BEN, chat: { ...PRIVATE, id: BEN.id } }
    const forwarded = { forward_origin: { type: 'user', sender_user: BEN } }
    for (const more of [other, ben, forwarded]) expect(join(picture(1), picture(2, more)).map(([updateId]) => updateId)).toEqual([1, 2])
  })

  test('is not joined across another message', () => {
    expect(join(picture(1), message({ text: 'words' }), picture(2))).toEqual([
      [1, '', 1],
      [2, 'words', 0],
      [3, '', 1],
    ])
  })
})

describe('a list of updates', () => {
  test('is sorted and deduplicated, and skips entries without a number', () => {
    const list = [{ update_id: 3 }, null, { update_id: 1 }, { message: {} }, { update_id: 3 }, { update_id: 'x' }]
    expect(readUpdates(list, noFile)!.map(({ updateId }) => updateId)).toEqual([1, 3])
  })

  test.each([[null], [{}], ['x'], [[1, 2]], [[{ update_id: 'x' }]]])('is refused: %j', (answer) => {
    expect(readUpdates(answer, noFile)).toBeNull()
  })

  test('may be empty', () => expect(readUpdates([], noFile)).toEqual([]))
})
