import Plus from 'lucide-solid/icons/plus'
import X from 'lucide-solid/icons/x'
import { For, Index, type JSX, Show } from 'solid-js'
import { issueOf } from '../../../api/problem.ts'
import { useSandbox } from '../../../api/queries.ts'
import { t } from '../../../lib/language.ts'
import { visibleText } from '../../../lib/visible-text.ts'
import { Button } from '../../../ui/Button.tsx'
import { Checkbox } from '../../../ui/Checkbox.tsx'
import { IconButton } from '../../../ui/IconButton.tsx'
import { Select } from '../../../ui/Select.tsx'
import { TextArea } from '../../../ui/TextArea.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import { FoldersField } from '../../../features/files/FoldersField.tsx'
import { hiddenPaths, type ServerDraft } from './server-draft.ts'

/** What runs or is called. */
export function ServerFields(props: { draft: ServerDraft; error: unknown }): JSX.Element {
  const fields = () => props.draft.fields
  return (
    <>
      <TextField
        label={t('connections.mcp.fields.name')}
        value={fields().name}
        onValue={(name) => props.draft.set({ name })}
        problem={issueOf(props.error, 'name')}
      />
      <Show
        when={fields().kind === 'stdio'}
        fallback={
          <>
            <TextField
              label={t('connections.mcp.fields.url')}
              type="url"
              mono
              value={fields().url}
              onValue={(url) => props.draft.set({ url })}
              problem={issueOf(props.error, 'transport.url')}
            />
            <Checkbox
              label={t('connections.mcp.fields.sse')}
              hint={t('connections.mcp.fields.sseHint')}
              checked={fields().kind === 'sse'}
              onChecked={(isSse) => props.draft.set({ kind: isSse ? 'sse' : 'http' })}
            />
          </>
        }
      >
        <TextField
          label={t('connections.mcp.fields.command')}
          mono
          value={fields().command}
          onValue={(command) => props.draft.set({ command })}
          problem={issueOf(props.error, 'transport.command')}
        />
        <TextArea
          label={t('connections.mcp.fields.args')}
          optional
          mono
          rows={3}
          maxRows={8}
          hint={t('connections.mcp.fields.argsHint')}
          value={fields().args}
          onValue={(args) => props.draft.set({ args })}
          problem={issueOf(props.error, 'transport.args')}
        />
      </Show>
    </>
  )
}

/** What a program may reach. */
export function ReachFields(props: { draft: ServerDraft; error: unknown }): JSX.Element {
  const sandbox = useSandbox()
  const fields = () => props.draft.fields
  return (
    <Show when={fields().kind === 'stdio'}>
      <Select
        label={t('connections.mcp.fields.network')}
        value={fields().network}
        onValue={(network) => props.draft.set({ network })}
        options={[
          { value: 'none', label: t('connections.mcp.runs.noNetwork') },
          { value: 'some', label: t('connections.mcp.fields.someHosts') },
          { value: 'any', label: t('connections.mcp.runs.anyHost'), note: t('connections.mcp.fields.anyHostWhy') },
        ]}
      />
      <Show when={fields().network === 'some'}>
        <TextField
          label={t('connections.mcp.fields.hosts')}
          mono
          placeholder="api.example.com"
          hint={t('connections.mcp.fields.hostsHint')}
          value={fields().hosts}
          onValue={(hosts) => props.draft.set({ hosts })}
          problem={issueOf(props.error, 'transport.hosts')}
        />
      </Show>
      {/* Asked for by name only where this machine has no sandbox, or somebody allowed it there. */}
      <Show when={sandbox.data?.sandbox.works === false || fields().allowsUnsandboxed}>
        <Checkbox
          label={t('connections.mcp.fields.unsandboxed')}
          hint={t('connections.mcp.fields.unsandboxedHint')}
          checked={fields().allowsUnsandboxed}
          onChecked={(allowsUnsandboxed) => props.draft.set({ allowsUnsandboxed })}
        />
      </Show>
      <fieldset>
        <legend class="mb-1 text-sm font-medium text-ink">{t('connections.mcp.fields.folders')}</legend>
        <FoldersField
          value={fields().folders}
          onValue={(folders) => props.draft.set({ folders })}
          none={t('connections.mcp.fields.foldersNone')}
          hint={t('connections.mcp.fields.foldersHint')}
          problem={issueOf(props.error, 'transport.folders')}
          problemAt={null}
        />
        <For each={hiddenPaths(fields())}>
          {(path) => (
            <p class="mt-1 text-xs wrap-anywhere text-warn">{t('connections.mcp.fields.hiddenPath', { path: visibleText(path) })}</p>
          )}
        </For>
      </fieldset>
    </Show>
  )
}

/** Environment variables or headers. Their values go to the keychain and are never shown again. */
export function SecretFields(props: { draft: ServerDraft }): JSX.Element {
  const isProgram = () => props.draft.fields.kind === 'stdio'
  const add = () => props.draft.set('secrets', (all) => [...all, { name: '', value: '', isStored: false }])
  return (
    <fieldset class="flex flex-col gap-2">
      <legend class="mb-1 text-sm font-medium text-ink">
        {t(isProgram() ? 'connections.mcp.fields.env' : 'connections.mcp.fields.headers')}
      </legend>
      <Index each={props.draft.fields.secrets}>
        {(secret, at) => (
          <div class="flex items-start gap-2 max-sm:flex-wrap">
            <div class="w-48 shrink-0 max-sm:w-full">
              <TextField
                label={t('connections.mcp.fields.secretName')}
                hideLabel={at > 0}
                mono
                value={secret().name}
                onValue={(name) => props.draft.set('secrets', at, { name, isStored: false })}
              />
            </div>
            <div class="min-w-0 flex-1">
              <TextField
                label={t('connections.mcp.fields.secretValue')}
                hideLabel={at > 0}
                type="password"
                data-1p-ignore=""
                mono
                placeholder={secret().isStored ? t('connections.mcp.fields.unchanged') : ''}
                value={secret().value}
                onValue={(value) => props.draft.set('secrets', at, { value })}
                hint={secret().description ? visibleText(secret().description!) : undefined}
              />
            </div>
            <IconButton
              class={at === 0 ? 'mt-6.5' : ''}
              icon={X}
              label={t('connections.mcp.fields.removeSecret', { name: secret().name })}
              onClick={() => props.draft.set('secrets', (all) => all.filter((_, n) => n !== at))}
            />
          </div>
        )}
      </Index>
      <Button size="sm" class="self-start" icon={Plus} onClick={add}>
        {t(isProgram() ? 'connections.mcp.fields.addEnv' : 'connections.mcp.fields.addHeader')}
      </Button>
      <p class="text-xs text-ink-3">{t('connections.connect.secretHint')}</p>
    </fieldset>
  )
}
