import { createSignal, type JSX, Match, Show, Switch as Choice } from 'solid-js'
import { createStore } from 'solid-js/store'
import type { Sandbox } from '../../../src-runner/contract/sandbox.ts'
import { type Settings, type UpdateWebSearch, WebSearchKind } from '../../../src-runner/contract/settings.ts'
import { useMay } from '../../api/may.ts'
import { useAction, useCheckSandbox, useUpdateSettings } from '../../api/mutations.ts'
import { issueOf, problemOf, sentenceOf } from '../../api/problem.ts'
import { useSandbox, useSettings } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { messageText } from '../../lib/message-text.ts'
import { t } from '../../lib/language.ts'
import { Button } from '../../ui/Button.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { FormDialog } from '../../ui/FormDialog.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Row, RowFrame } from '../../ui/Row.tsx'
import { Select } from '../../ui/Select.tsx'
import { Switch } from '../../ui/Switch.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { TextField } from '../../ui/TextField.tsx'

/** The sandbox for programs, web search, and the local addresses that agents may open. */
export function AgentTools(): JSX.Element {
  const settings = useSettings()
  const may = useMay()
  const [open, setOpen] = createSignal<'search' | 'hosts' | null>(null)
  return (
    <Panel title={t('settings.tools.title')} flush>
      <SandboxRow />
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
            <Row id="web-search" label={t('settings.tools.search')} hint={t('settings.tools.searchHint')}>
              <span class="text-sm text-ink-2">
                {held().webSearch === null ? t('settings.tools.searchOff') : t(`settings.tools.kinds.${held().webSearch!.kind}`)}
              </span>
              <Button disabled={!may('updateWebSearch')} onClick={() => setOpen('search')}>
                {held().webSearch === null ? t('settings.tools.searchSetUp') : t('common.edit')}
              </Button>
            </Row>
            <Row id="hosts" label={t('settings.tools.hosts')} hint={t('settings.tools.hostsHint')}>
              <span class="text-sm text-ink-2">{t('settings.tools.hostCount', { count: held().openedHosts.length })}</span>
              <Button disabled={!may('updateSettings')} onClick={() => setOpen('hosts')}>
                {t('common.edit')}
              </Button>
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
  const change = useUpdateSettings()
  const may = useMay()
  const turn = (ownPrograms: boolean) => void change.run({ body: { ownPrograms } }).catch(toastError)
  return (
    <RowFrame id="programs">
      <Switch
        label={t('settings.tools.programs')}
        hint={t('settings.tools.programsHint')}
        checked={props.settings.ownPrograms}
        disabled={!may('updateSettings')}
        onChecked={turn}
      />
    </RowFrame>
  )
}

function SandboxRow(): JSX.Element {
  const answer = useSandbox()
  const check = useCheckSandbox()
  const checkNow = () => void check.run().catch(toastError)
  return (
    <Show when={answer.data}>
      {(data) => (
        <Row
          id="sandbox"
          label={t('settings.tools.sandbox')}
          hint={
            <Choice>
              <Match when={!data().sandbox.works}>{[...sandboxTexts(data().sandbox), t('settings.tools.sandboxMissing')].join(' ')}</Match>
              <Match when={!data().sandbox.network.works}>
                {[t('settings.tools.sandboxHint'), ...sandboxTexts(data().sandbox.network)].join(' ')}
              </Match>
              <Match when={true}>{t('settings.tools.sandboxHint')}</Match>
            </Choice>
          }
        >
          <Pill tone={data().sandbox.works ? 'ok' : 'warn'}>
            {data().sandbox.works ? t('settings.tools.sandboxWorks') : t('settings.tools.sandboxNone')}
          </Pill>
          <Show when={!data().sandbox.works}>
            <Button size="sm" busy={check.isRunning} onClick={checkNow}>
              {t('settings.tools.sandboxCheck')}
            </Button>
          </Show>
        </Row>
      )}
    </Show>
  )
}

function sandboxTexts({ reason, advice }: Pick<Sandbox, 'reason' | 'advice'>): string[] {
  return [messageText(reason), messageText(advice)].filter((part) => part !== '')
}

function SearchDialog(props: { settings: Settings; onClose: () => void }): JSX.Element {
  const change = useAction('updateWebSearch')
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
      // The form shows the error.
    }
  }
  const save = () => {
    const apiKey = form.apiKey.trim()
    const url = form.kind === 'searxng' ? form.baseUrl.trim() : ''
    return send({ kind: form.kind, baseUrl: url === '' ? null : url, ...(apiKey !== '' && { apiKey }) })
  }
  const atField = (name: string) => issueOf(change.error, `webSearch.${name}`)
  return (
    <FormDialog
      onClose={props.onClose}
      title={t('settings.tools.search')}
      description={t('settings.tools.searchDialog')}
      submit={t('common.save')}
      onSubmit={() => void save()}
      isRunning={change.isRunning}
      aside={
        <Show when={held()}>
          <Button variant="ghost" class="mr-auto" disabled={change.isRunning} onClick={() => void send(null)}>
            {t('settings.tools.searchRemove')}
          </Button>
        </Show>
      }
    >
      <Select
        label={t('settings.tools.searchKind')}
        options={WebSearchKind.options.map((kind) => ({ value: kind, label: t(`settings.tools.kinds.${kind}`) }))}
        value={form.kind}
        onValue={(kind) => setForm('kind', kind)}
      />
      <Show when={form.kind === 'searxng'}>
        <TextField
          mono
          label={t('settings.tools.searchUrl')}
          hint={t('settings.tools.searchUrlHint')}
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
          label={t('settings.tools.searchKey')}
          hint={keeps() ? t('settings.tools.searchKeyKept') : t('settings.tools.searchKeyHint')}
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
    </FormDialog>
  )
}

function HostsDialog(props: { settings: Settings; onClose: () => void }): JSX.Element {
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
      // The field shows the error.
    }
  }
  const problem = () => (change.error === null ? null : sentenceOf(change.error))
  return (
    <FormDialog
      onClose={props.onClose}
      title={t('settings.tools.hosts')}
      description={t('settings.tools.hostsDialog')}
      submit={t('common.save')}
      onSubmit={() => void save()}
      isRunning={change.isRunning}
    >
      <TextArea
        mono
        label={t('settings.tools.hostsField')}
        hint={t('settings.tools.hostsFieldHint')}
        placeholder={'nas.local\n192.168.1.5:8080'}
        rows={4}
        maxRows={12}
        problem={problem()}
        value={typed()}
        onValue={setTyped}
      />
      <Show when={hosts().length > 0}>
        <p class="rounded-md bg-warn-soft px-3 py-2 text-xs text-warn">{t('settings.tools.hostsWarning')}</p>
      </Show>
    </FormDialog>
  )
}
