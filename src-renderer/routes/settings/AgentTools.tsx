import { createSignal, type JSX, Match, Show, Switch as Choice } from 'solid-js'
import { createStore } from 'solid-js/store'
import type { Box } from '../../../src-runner/contract/box.ts'
import { type Settings, type UpdateWebSearch, WebSearchKind } from '../../../src-runner/contract/settings.ts'
import { useCheckBox, useUpdateSettings, useUpdateWebSearch } from '../../api/mutations.ts'
import { issueOf, problemOf, sentenceOf } from '../../api/problem.ts'
import { useBox, useSettings } from '../../api/queries.ts'
import { saidText } from '../../kit/said.ts'
import { words } from '../../kit/words/words.ts'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Row, RowFrame } from '../../ui/Row.tsx'
import { Select } from '../../ui/Select.tsx'
import { Switch } from '../../ui/Switch.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { toast } from '../../ui/Toasts.tsx'

/** What the tools of agents stand on: the sandbox for programs, the search in the web, and what is opened to them nearby. */
export function AgentTools(): JSX.Element {
  const text = () => words().settings.tools
  const settings = useSettings()
  const [open, setOpen] = createSignal<'search' | 'hosts' | null>(null)
  return (
    <Panel title={text().title} flush>
      <BoxRow />
      <Show
        when={settings.data?.settings}
        fallback={
          <Show when={settings.error}>
            <div class="p-4">
              <ErrorState compact problem={problemOf(settings.error)} onRetry={settings.retry} />
            </div>
          </Show>
        }
      >
        {(held) => (
          <>
            <ProgramsRow settings={held()} />
            <Row id="web-search" label={text().search} hint={text().searchHint}>
              <span class="text-sm text-ink-2">{held().webSearch === null ? text().searchOff : text().kinds[held().webSearch!.kind]}</span>
              <Button onClick={() => setOpen('search')}>{held().webSearch === null ? text().searchSetUp : words().common.edit}</Button>
            </Row>
            <Row id="hosts" label={text().hosts} hint={text().hostsHint}>
              <span class="text-sm text-ink-2">{text().hostCount(held().openedHosts.length)}</span>
              <Button onClick={() => setOpen('hosts')}>{words().common.edit}</Button>
            </Row>
            <Show when={open() === 'search'}>
              <SearchDialog settings={held()} onClose={() => setOpen(null)} />
            </Show>
            <Show when={open() === 'hosts'}>
              <HostsDialog settings={held()} onClose={() => setOpen(null)} />
            </Show>
          </>
        )}
      </Show>
    </Panel>
  )
}

function ProgramsRow(props: { settings: Settings }): JSX.Element {
  const text = () => words().settings.tools
  const change = useUpdateSettings()
  const turn = (ownPrograms: boolean) =>
    void change.run({ body: { ownPrograms } }).catch((thrown: unknown) => toast({ tone: 'bad', text: sentenceOf(thrown) }))
  return (
    <RowFrame id="programs">
      <Switch label={text().programs} hint={text().programsHint} checked={props.settings.ownPrograms} onChecked={turn} />
    </RowFrame>
  )
}

function BoxRow(): JSX.Element {
  const text = () => words().settings.tools
  const answer = useBox()
  const check = useCheckBox()
  const checkNow = () => void check.run().catch((thrown: unknown) => toast({ tone: 'bad', text: sentenceOf(thrown) }))
  return (
    <Show when={answer.data}>
      {(data) => (
        <Row
          id="sandbox"
          label={text().box}
          hint={
            <Choice>
              <Match when={!data().box.works}>{[...boxTexts(data().box), text().boxMissing].join(' ')}</Match>
              <Match when={!data().box.network.works}>{[text().boxHint, ...boxTexts(data().box.network)].join(' ')}</Match>
              <Match when={true}>{text().boxHint}</Match>
            </Choice>
          }
        >
          <Pill tone={data().box.works ? 'ok' : 'warn'}>{data().box.works ? text().boxWorks : text().boxNone}</Pill>
          <Show when={!data().box.works}>
            <Button size="sm" busy={check.isRunning} onClick={checkNow}>
              {text().boxCheck}
            </Button>
          </Show>
        </Row>
      )}
    </Show>
  )
}

function boxTexts({ reason, reasonSaid, advice, adviceSaid }: Pick<Box, 'reason' | 'reasonSaid' | 'advice' | 'adviceSaid'>): string[] {
  return [saidText(reason, reasonSaid), saidText(advice, adviceSaid)].filter((part) => part !== '')
}

function SearchDialog(props: { settings: Settings; onClose: () => void }): JSX.Element {
  const text = () => words().settings.tools
  const change = useUpdateWebSearch()
  const held = () => props.settings.webSearch
  const [form, setForm] = createStore<{ kind: WebSearchKind; baseUrl: string; apiKey: string }>({
    kind: held()?.kind ?? 'brave',
    baseUrl: held()?.baseUrl ?? '',
    apiKey: '',
  })
  const keeps = () => held()?.kind === form.kind && held()?.hasKey === true
  const send = async (webSearch: UpdateWebSearch | null) => {
    try {
      await change.run({ body: { webSearch } })
      props.onClose()
    } catch {
      // Shown in the form.
    }
  }
  const save = () => {
    const apiKey = form.apiKey.trim()
    const url = form.kind === 'searxng' ? form.baseUrl.trim() : ''
    return send({ kind: form.kind, baseUrl: url === '' ? null : url, ...(apiKey !== '' && { apiKey }) })
  }
  const atField = (name: string) => issueOf(change.error, `webSearch.${name}`)
  return (
    <Dialog
      open
      onClose={props.onClose}
      title={text().search}
      description={text().searchDialog}
      actions={
        <>
          <Show when={held()}>
            <Button variant="ghost" class="mr-auto" disabled={change.isRunning} onClick={() => void send(null)}>
              {text().searchRemove}
            </Button>
          </Show>
          <Button onClick={() => props.onClose()}>{words().common.cancel}</Button>
          <Button variant="primary" busy={change.isRunning} onClick={() => void save()}>
            {words().common.save}
          </Button>
        </>
      }
    >
      <form
        class="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <Select
          label={text().searchKind}
          options={WebSearchKind.options.map((kind) => ({ value: kind, label: text().kinds[kind] }))}
          value={form.kind}
          onValue={(kind) => setForm('kind', kind)}
        />
        <Show when={form.kind === 'searxng'}>
          <TextField
            mono
            label={text().searchUrl}
            hint={text().searchUrlHint}
            placeholder="http://127.0.0.1:8888"
            problem={atField('baseUrl')}
            value={form.baseUrl}
            onValue={(baseUrl) => setForm('baseUrl', baseUrl)}
          />
        </Show>
        <Show when={form.kind !== 'searxng'}>
          <TextField
            mono
            type="password"
            label={text().searchKey}
            hint={keeps() ? text().searchKeyKept : text().searchKeyHint}
            problem={atField('apiKey')}
            value={form.apiKey}
            onValue={(apiKey) => setForm('apiKey', apiKey)}
          />
        </Show>
        <Show when={change.error !== null && atField('apiKey') === null && atField('baseUrl') === null}>
          <p role="alert" class="text-sm text-bad">
            {sentenceOf(change.error)}
          </p>
        </Show>
        <button type="submit" class="hidden" />
      </form>
    </Dialog>
  )
}

function HostsDialog(props: { settings: Settings; onClose: () => void }): JSX.Element {
  const text = () => words().settings.tools
  const change = useUpdateSettings()
  const [typed, setTyped] = createSignal(props.settings.openedHosts.join('\n'))
  const hosts = () => [
    ...new Set(
      typed()
        .split(/[\s,]+/)
        .filter((host) => host !== ''),
    ),
  ]
  const save = async () => {
    try {
      await change.run({ body: { openedHosts: hosts() } })
      props.onClose()
    } catch {
      // Shown under the field.
    }
  }
  const problem = () => (change.error === null ? null : sentenceOf(change.error))
  return (
    <Dialog
      open
      onClose={props.onClose}
      title={text().hosts}
      description={text().hostsDialog}
      actions={
        <>
          <Button onClick={() => props.onClose()}>{words().common.cancel}</Button>
          <Button variant="primary" busy={change.isRunning} onClick={() => void save()}>
            {words().common.save}
          </Button>
        </>
      }
    >
      <TextArea
        mono
        label={text().hostsField}
        hint={text().hostsFieldHint}
        placeholder={'nas.local\n192.168.1.5:8080'}
        rows={4}
        maxRows={12}
        problem={problem()}
        value={typed()}
        onValue={setTyped}
      />
      <Show when={hosts().length > 0}>
        <p class="mt-3 rounded-md bg-warn-soft px-3 py-2 text-xs text-warn">{text().hostsWarning}</p>
      </Show>
    </Dialog>
  )
}
