import { createSignal, Show } from 'solid-js'
import { ExportHead, type HistoryLine, type ImportResult, MAX_HEAD_CHARS } from '../../../src-runner/contract/export.ts'
import { useApi } from '../../api/ApiProvider.tsx'
import { useMay } from '../../api/may.ts'
import { useAction } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { download } from '../../lib/files.ts'
import { locale, t } from '../../lib/language.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Row } from '../../ui/Row.tsx'
import { toast } from '../../ui/Toasts.tsx'

const tell = (thrown: unknown) => toast({ tone: 'bad', text: sentenceOf(thrown) })

type Head = typeof ExportHead._output

/** Saves what a person set up and did as a file, and makes the set-up of such a file here. */
export function ExportImport() {
  return (
    <Panel title={t('settings.export.title')} flush>
      <Export />
      <Import />
    </Panel>
  )
}

function Export() {
  const { client } = useApi()
  const may = useMay()
  const [isRunning, setRunning] = createSignal(false)
  async function save(): Promise<void> {
    setRunning(true)
    try {
      const head = await client.call('exportSetup')
      const lines = [`${JSON.stringify(head)}\n`]
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await client.call('exportHistory', { query: cursor === undefined ? {} : { cursor } })
        lines.push(...page.lines.map((line) => `${JSON.stringify(line)}\n`))
        cursor = page.nextCursor
      }
      const left = head.setup.skills.filter(({ kind, archive }) => kind === 'own' && archive === null)
      if (left.length > 0) toast({ tone: 'bad', text: t('settings.export.skillsLeft', { names: left.map(({ name }) => name).join(', ') }) })
      download(new Blob(lines, { type: 'application/x-ndjson' }), `deckhand-${new Date(head.at).toISOString().slice(0, 10)}.ndjson`)
    } catch (thrown) {
      tell(thrown)
    } finally {
      setRunning(false)
    }
  }
  return (
    <Row id="export" label={t('settings.export.export')} hint={t('settings.export.exportHint')}>
      <Button size="sm" busy={isRunning()} disabled={!may('exportSetup')} onClick={() => void save()}>
        {t('settings.export.exportNow')}
      </Button>
    </Row>
  )
}

function Import() {
  const doImport = useAction('importSetup')
  const may = useMay()
  const { client } = useApi()
  const [offer, setOffer] = createSignal<{ head: Head; result: ImportResult; file: File } | null>(null)
  const [withSetup, setWithSetup] = createSignal(true)
  const [withHistory, setWithHistory] = createSignal(true)
  let input!: HTMLInputElement
  async function preview(file: File | undefined): Promise<void> {
    input.value = ''
    if (file === undefined) return
    try {
      const head = await readHead(file)
      const { result } = await doImport.run({ body: { head, dryRun: true } })
      setWithSetup(true)
      setWithHistory(true)
      setOffer({ head, result, file })
    } catch (thrown) {
      tell(thrown)
    }
  }
  async function confirm(): Promise<void> {
    const { head, file } = offer()!
    if (withSetup()) {
      await doImport.run({ body: { head, dryRun: false } })
      // If the history fails, a second try must not make the agents again.
      setWithSetup(false)
      toast({ tone: 'ok', text: t('settings.export.imported') })
    }
    if (!withHistory()) return
    const sum = { jobs: 0, conversations: 0, known: 0 }
    for await (const lines of readHistory(file)) {
      const { result } = await client.call('importHistory', { body: { lines } })
      for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += result[key]
    }
    if (sum.jobs + sum.conversations + sum.known > 0) toast({ tone: 'ok', text: t('settings.export.importedHistory', sum) })
  }
  return (
    <Row id="import" label={t('settings.export.import')} hint={t('settings.export.importHint')}>
      <input
        ref={(element) => (input = element)}
        type="file"
        class="hidden"
        accept=".ndjson,.json"
        aria-label={t('settings.export.file')}
        onChange={(event) => void preview(event.currentTarget.files?.[0])}
      />
      <Button size="sm" busy={doImport.isRunning} disabled={!may('importSetup')} onClick={() => input.click()}>
        {t('settings.export.choose')}
      </Button>
      <ConfirmDialog
        open={offer() !== null}
        onClose={() => setOffer(null)}
        title={t('settings.export.ask')}
        confirm={t('settings.export.importNow')}
        onConfirm={confirm}
        describeError={sentenceOf}
      >
        <Show when={offer()}>
          {(found) => (
            <div class="flex flex-col gap-3">
              <Checkbox label={t('settings.export.withSetup')} checked={withSetup()} onChecked={setWithSetup} />
              <Show when={withSetup()}>
                {/* Below the words of the checkbox, not below its box. */}
                <div class="pl-6.5">
                  <Preview result={found().result} />
                </div>
              </Show>
              <Checkbox
                label={t('settings.export.withHistory')}
                hint={t('settings.export.withHistoryHint')}
                checked={withHistory()}
                onChecked={setWithHistory}
              />
            </div>
          )}
        </Show>
      </ConfirmDialog>
    </Row>
  )
}

/** The first line. Throws an error for people if it is not one of an export. */
async function readHead(file: File): Promise<Head> {
  const text = await file.slice(0, 4 * MAX_HEAD_CHARS).text()
  const [line = ''] = text.split('\n', 1)
  try {
    if (line.length > MAX_HEAD_CHARS) throw new Error('too long')
    return ExportHead.parse(JSON.parse(line))
  } catch {
    throw new Error(t('settings.export.notOurs'))
  }
}

const LINES_AT_ONCE = 100
const CHARS_AT_ONCE = 1_000_000
const BYTES_AT_ONCE = 4_000_000

/** The lines after the first, a few at a time, so that a large file is never in memory as a whole. */
async function* readHistory(file: File): AsyncGenerator<HistoryLine[]> {
  let [lines, chars, isHead]: [HistoryLine[], number, boolean] = [[], 0, true]
  for await (const line of readLines(file)) {
    if (isHead || line.trim() === '') {
      isHead = false
      continue
    }
    if (lines.length > 0 && (lines.length >= LINES_AT_ONCE || chars + line.length > CHARS_AT_ONCE)) {
      yield lines
      ;[lines, chars] = [[], 0]
    }
    lines.push(parseLine(line))
    chars += line.length
  }
  if (lines.length > 0) yield lines
}

async function* readLines(file: File): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for (let at = 0; at < file.size; at += BYTES_AT_ONCE) {
    const bytes = new Uint8Array(await file.slice(at, at + BYTES_AT_ONCE).arrayBuffer())
    const pieces = decoder.decode(bytes, { stream: true }).split('\n')
    pieces[0] = rest + pieces[0]!
    rest = pieces.pop()!
    yield* pieces
  }
  yield rest
}

/** The runner checks it. */
function parseLine(line: string): HistoryLine {
  try {
    return JSON.parse(line) as HistoryLine
  } catch {
    throw new Error(t('settings.export.damagedLine'))
  }
}

function Preview(props: { result: ImportResult }) {
  const adds = () => {
    const { agents, triggers, schedules, rules, memories } = props.result
    const counts = { agents: agents.length, triggers: triggers.length, schedules: schedules.length, rules, memories }
    const kinds = (Object.keys(counts) as (keyof typeof counts)[]).filter((kind) => counts[kind] > 0)
    if (kinds.length === 0) return t('settings.export.addsNothing')
    const things = kinds.map((kind) => t(`settings.export.things.${kind}`, { count: counts[kind] }))
    return t('settings.export.adds', { things: new Intl.ListFormat(locale()).format(things) })
  }
  return (
    <div class="flex flex-col gap-2 text-sm">
      <p>{adds()}</p>
      <Show when={props.result.agents.length > 0}>
        <p class="text-ink-2 wrap-anywhere">{visibleText(props.result.agents.join(', '))}</p>
      </Show>
      <Show when={props.result.autonomousAgents.length > 0}>
        <p class="text-warn wrap-anywhere">
          {t('settings.export.autonomous', {
            count: props.result.autonomousAgents.length,
            names: visibleText(props.result.autonomousAgents.join(', ')),
          })}
        </p>
      </Show>
      <Show when={props.result.folders.length > 0}>
        <p class="wrap-anywhere">{t('settings.export.folders', { names: visibleText(props.result.folders.join(', ')) })}</p>
      </Show>
      <Show when={props.result.foldersLeftOut.length > 0}>
        <p class="text-ink-2 wrap-anywhere">
          {t('settings.export.foldersLeftOut', { names: visibleText(props.result.foldersLeftOut.join(', ')) })}
        </p>
      </Show>
      <p class="text-ink-2">{t('settings.export.paused')}</p>
      <Show when={props.result.allowRules > 0}>
        <p class="text-warn">{t('settings.export.allows', { count: props.result.allowRules })}</p>
      </Show>
      <Show when={props.result.rulesLeftOut > 0}>
        <p class="text-ink-2">{t('settings.export.leftOut', { count: props.result.rulesLeftOut })}</p>
      </Show>
      <Show when={props.result.connections.length > 0}>
        <p class="text-ink-2 wrap-anywhere">
          {t('settings.export.signIn', {
            count: props.result.connections.length,
            hosts: visibleText(props.result.connectionHosts.join(', ')),
          })}
        </p>
      </Show>
      <Show when={props.result.signedTriggers.length > 0}>
        <p class="text-ink-2 wrap-anywhere">
          {t('settings.export.signedTriggers', { names: visibleText(props.result.signedTriggers.join(', ')) })}
        </p>
      </Show>
      <Show when={props.result.skills.length > 0}>
        <p class="text-ink-2">{t('settings.export.skills', { count: props.result.skills.length })}</p>
      </Show>
      <Show when={props.result.modelsUnknown > 0}>
        <p class="text-ink-2">{t('settings.export.models', { count: props.result.modelsUnknown })}</p>
      </Show>
    </div>
  )
}
