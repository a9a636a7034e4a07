import { For, type JSX, Show } from 'solid-js'
import type { McpEndpoint } from '../../../src-runner/contract/settings.ts'
import { AnswerState } from '../../api/AnswerState.tsx'
import { useMay } from '../../api/may.ts'
import { useUpdateSettings } from '../../api/mutations.ts'
import { useMcpEndpoint, useSettings } from '../../api/queries.ts'
import { toastError } from '../../api/toast-error.ts'
import { t } from '../../lib/language.ts'
import { useDesktop } from '../../platform/DesktopProvider.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { RowFrame } from '../../ui/Row.tsx'
import { Switch } from '../../ui/Switch.tsx'

const PLACEHOLDERS = { none: null, secret: 'YOUR_SECRET', secret_or_token: 'YOUR_TOKEN' } as const

/** Deckhand as a server of the Model Context Protocol: its address, and how to add it to the programs that most people use. */
export function OtherPrograms(): JSX.Element {
  const answer = useMcpEndpoint()
  return (
    <Panel title={t('settings.programs.title')} description={t('settings.programs.about')} flush>
      <div id="other-programs" class="scroll-mt-6 border-t border-line outline-none">
        <Show
          when={answer.data}
          fallback={
            <div class="p-4">
              <AnswerState compact rows={3} answer={answer} />
            </div>
          }
        >
          {(endpoint) => <Ways endpoint={endpoint()} />}
        </Show>
        <ApprovalsRow />
      </div>
    </Panel>
  )
}

function Ways(props: { endpoint: McpEndpoint }): JSX.Element {
  const bearer = () => PLACEHOLDERS[props.endpoint.bearer]
  const headers = () => (bearer() === null ? {} : { headers: { Authorization: `Bearer ${bearer()}` } })
  const ways = () => {
    const { url } = props.endpoint
    const header = bearer() === null ? '' : ` --header "Authorization: Bearer ${bearer()}"`
    return [
      {
        label: t('settings.programs.claudeCode'),
        hint: t('settings.programs.claudeCodeHint'),
        text: `claude mcp add --transport http deckhand ${url}${header}`,
      },
      {
        label: t('settings.programs.cursor'),
        hint: t('settings.programs.cursorHint'),
        text: JSON.stringify({ mcpServers: { deckhand: { url, ...headers() } } }),
      },
      {
        label: t('settings.programs.vscode'),
        hint: t('settings.programs.vscodeHint'),
        text: `code --add-mcp '${JSON.stringify({ name: 'deckhand', type: 'http', url, ...headers() })}'`,
      },
      { label: t('settings.programs.address'), hint: t('settings.programs.addressHint'), text: url },
    ]
  }
  return (
    <>
      <For each={ways()}>{(way) => <Way {...way} />}</For>
      <Show when={bearer() !== null}>
        <RowFrame>
          <p class="text-sm text-ink-2">
            {t(`settings.programs.${props.endpoint.bearer === 'secret' ? 'needsSecret' : 'needsToken'}`, { placeholder: bearer()! })}
          </p>
        </RowFrame>
      </Show>
    </>
  )
}

function Way(props: { label: string; hint: string; text: string }): JSX.Element {
  const desktop = useDesktop()
  return (
    <RowFrame>
      <div class="text-sm text-ink">{props.label}</div>
      <div class="text-xs text-ink-3">{props.hint}</div>
      <div class="mt-1.5 flex items-start gap-2">
        <code class="min-w-0 flex-1 self-center rounded-md bg-inset px-2 py-1.5 font-mono text-xs wrap-anywhere text-ink">
          {props.text}
        </code>
        <CopyButton size="sm" label={t('settings.programs.copyFor', { program: props.label })} text={props.text} copy={desktop.copyText} />
      </div>
    </RowFrame>
  )
}

function ApprovalsRow(): JSX.Element {
  const settings = useSettings()
  const change = useUpdateSettings()
  const may = useMay()
  const turn = (mcpApprovals: boolean) => void change.run({ body: { mcpApprovals } }).catch(toastError)
  return (
    <Show when={settings.data?.settings}>
      {(held) => (
        <RowFrame id="mcp-approvals">
          <Switch
            label={t('settings.programs.approvals')}
            hint={t('settings.programs.approvalsHint')}
            checked={held().mcpApprovals}
            disabled={!may('updateSettings')}
            onChecked={turn}
          />
        </RowFrame>
      )}
    </Show>
  )
}
