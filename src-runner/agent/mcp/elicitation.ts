import type { AskedQuestion } from '../../contract/approvals.ts'
import { isRecord } from '../../lib/json-values.ts'
import { cutText } from '../../lib/text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import type { Elicitation, ElicitationAnswer } from './connect-server.ts'

const MAX_FIELDS = 10
const MAX_CHOICES = 30
const MAX_TEXT_CHARS = 2_000
const MAX_CHOICE_CHARS = 200
const MAX_URL_CHARS = 2_000
/** An answer that does not fit is asked for again. */
const MAX_TRIES = 3

/** As `execution/parked-calls.ts` asks. */
type Ask = (question: AskedQuestion) => Promise<{ answer: string } | { declined: true } | null>
type Value = string | number | boolean | string[]
/** `read` returns null for an answer that does not fit. */
type Field = { name: string; question: AskedQuestion; read(answer: string): Value | null }

const SECRETS =
  /pass(word|phrase|code|wort)|kennwort|secret|geheim|credential|private.?key|api.?key|\btoken|\bpin\b|\bpuk\b|\btan\b|\botp\b|\bcvv|\bcvc|card.?number|kartennummer|recovery.?code|seed.?phrase/i

/** `note`: for the model, why the server has no answer. null: it has one. */
export type Elicited = { answer: ElicitationAnswer; note: string | null }

/** Puts a server's form to the person, field by field. Nobody is asked for a secret. */
export async function elicit(elicitation: Elicitation, server: string, ask: Ask): Promise<Elicited> {
  const fields = fieldsOf(elicitation, server)
  if ('problem' in fields) return declined(fields.problem)
  const content: Record<string, Value> = {}
  for (const field of fields.list) {
    const value = await answerOf(field, ask)
    if ('problem' in value) return value.problem
    if (field.name === CONFIRMED && value.value === false) return declined(NO_ANSWER)
    content[field.name] = value.value
  }
  if (elicitation.mode === 'url') return { answer: { action: 'accept' }, note: null }
  delete content[CONFIRMED]
  return { answer: { action: 'accept', content }, note: null }
}

async function answerOf({ question, read }: Field, ask: Ask): Promise<{ value: Value } | { problem: Elicited }> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const given = await ask(question)
    if (given === null) return { problem: { answer: { action: 'cancel' }, note: 'nobody answered in time' } }
    if ('declined' in given) return { problem: declined(NO_ANSWER) }
    const value = read(given.answer.trim())
    if (value !== null) return { value }
  }
  return { problem: { answer: { action: 'cancel' }, note: 'the answers did not fit' } }
}

function declined(note: string): Elicited {
  return { answer: { action: 'decline' }, note }
}

const NO_ANSWER = 'the person does not want to answer'
/** The answer field of a question that has no field. */
const CONFIRMED = ' confirmed'

function fieldsOf(elicitation: Elicitation, server: string): { list: Field[] } | { problem: string } {
  const text = cutText(visibleText(elicitation.message), MAX_TEXT_CHARS)
  if (elicitation.mode === 'url') return addressField(text, elicitation.url, server)
  const properties = isRecord(elicitation.schema['properties']) ? elicitation.schema['properties'] : {}
  const all = Object.entries(properties).flatMap(([name, schema]) => (isRecord(schema) ? [{ name, schema }] : []))
  const required = new Set(Array.isArray(elicitation.schema['required']) ? elicitation.schema['required'] : [])
  // What may be left out is asked only if nothing else is.
  const needed = all.some(({ name }) => required.has(name)) ? all.filter(({ name }) => required.has(name)) : all
  const asksSecret = needed.some(({ name, schema }) =>
    SECRETS.test(`${name} ${wordsOf(schema['title'])} ${wordsOf(schema['description'])}`),
  )
  if (SECRETS.test(text) || asksSecret) {
    return { problem: 'not asked, because it seems to want a secret, and secrets are never given in this way. Tell the person.' }
  }
  if (needed.length > MAX_FIELDS) return { problem: `not asked, because it has more than ${MAX_FIELDS} fields` }
  if (needed.length === 0) return { list: [yesNo(CONFIRMED, { text, choices: [], server })] }
  return { list: needed.map(({ name, schema }) => fieldOf(name, schema, text, server)) }
}

/** Nothing opens the address by itself. */
function addressField(text: string, address: string, server: string): { list: Field[] } | { problem: string } {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '' || url.href.length > MAX_URL_CHARS)
    return { problem: 'not asked, because its address is none that may be shown' }
  return {
    list: [
      {
        name: CONFIRMED,
        question: { text, choices: [], server, form: 'done', url: url.href },
        read: (answer) => (answer === 'done' ? true : null),
      },
    ],
  }
}

function fieldOf(name: string, schema: Record<string, unknown>, message: string, server: string): Field {
  const { items } = schema
  const options = optionsOf(schema) ?? (schema['type'] === 'array' && isRecord(items) ? optionsOf(items) : null)
  const title = wordsOf(schema['title']) || visibleText(name)
  const about = [title, wordsOf(schema['description'])].filter((words) => words !== '').join(': ')
  const limits = limitsOf(schema)
  const text = cutText(`${message}\n\n${about}${limits === '' ? '' : ` [${limits}]`}`, MAX_TEXT_CHARS)
  const question = { text, choices: (options ?? []).map(({ label }) => label), server }
  const find = (answer: string) => options?.find(({ label, value }) => [label, value].some((one) => isSame(one, answer)))?.value ?? null
  switch (schema['type']) {
    case 'boolean':
      return yesNo(name, question)
    case 'number':
    case 'integer':
      return { name, question, read: (answer) => numberOf(answer, schema) }
    case 'array':
      return {
        name,
        question,
        read(answer) {
          const whole = find(answer)
          const values = whole === null ? answer.split(',').map((part) => find(part.trim())) : [whole]
          return values.includes(null) ? null : (values as string[])
        },
      }
    default:
      return { name, question, read: options === null ? (answer) => textOf(answer, schema) : find }
  }
}

function yesNo(name: string, question: AskedQuestion): Field {
  const values: Record<string, boolean> = { yes: true, no: false }
  return { name, question: { ...question, form: 'yes_no' }, read: (answer) => values[answer.toLowerCase()] ?? null }
}

function optionsOf(schema: Record<string, unknown>): { value: string; label: string }[] | null {
  const { enum: values, enumNames: names } = schema
  if (Array.isArray(values)) {
    const labels = Array.isArray(names) ? names : []
    return bounded(values.map((value, at) => ({ value: wordsOf(value), label: wordsOf(labels[at]) || wordsOf(value) })))
  }
  const titled = schema['oneOf'] ?? schema['anyOf']
  if (!Array.isArray(titled)) return null
  return bounded(
    titled.filter(isRecord).map((one) => ({ value: wordsOf(one['const']), label: wordsOf(one['title']) || wordsOf(one['const']) })),
  )
}

function bounded(options: { value: string; label: string }[]): { value: string; label: string }[] {
  return options
    .filter(({ value }) => value !== '')
    .slice(0, MAX_CHOICES)
    .map(({ value, label }) => ({ value, label: cutText(visibleText(label), MAX_CHOICE_CHARS) }))
}

/** The limits of the schema, in its words. */
function limitsOf({ type, format, minimum, maximum, minLength, maxLength }: Record<string, unknown>): string {
  const shown = (limit: unknown) => (typeof limit === 'number' ? String(limit) : '')
  const range = (least: unknown, most: unknown) => (shown(least) + shown(most) === '' ? [] : [`${shown(least)}–${shown(most)}`])
  const kind = type === 'number' || type === 'integer' ? [type] : typeof format === 'string' ? [wordsOf(format)] : []
  return [...kind, ...range(minimum, maximum), ...range(minLength, maxLength)].join(' ')
}

function numberOf(answer: string, { type, minimum, maximum }: Record<string, unknown>): number | null {
  const value = answer === '' ? NaN : Number(answer.replace(',', '.'))
  if (!Number.isFinite(value) || (type === 'integer' && !Number.isInteger(value))) return null
  if ((typeof minimum === 'number' && value < minimum) || (typeof maximum === 'number' && value > maximum)) return null
  return value
}

function textOf(answer: string, { minLength, maxLength }: Record<string, unknown>): string | null {
  const isShort = typeof minLength === 'number' && answer.length < minLength
  return isShort || (typeof maxLength === 'number' && answer.length > maxLength) ? null : answer
}

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

function wordsOf(value: unknown): string {
  return typeof value === 'string' ? visibleText(value) : ''
}
