import { createSignal, For, type JSX, Show } from 'solid-js'
import { type McpDraft, MAX_PASTE_CHARS } from '../../../../src-runner/contract/mcp-drafts.ts'
import { sentenceOf } from '../../../api/problem.ts'
import { useMcpPaste } from '../../../api/queries.ts'
import { t } from '../../../lib/language.ts'
import { TextArea } from '../../../ui/TextArea.tsx'
import { DraftCard, SkippedDrafts } from './DraftCard.tsx'
import { createServerDraft, type ServerDraft } from './server-draft.ts'

/** An address, a command line or the JSON of another app. It is read while it is typed. */
export function FromPaste(props: { onDraft: (draft: McpDraft) => void; onManual: (draft: ServerDraft) => void }): JSX.Element {
  const [text, setText] = createSignal('')
  const read = useMcpPaste(() => (text().trim() === '' ? null : text().trim().slice(0, MAX_PASTE_CHARS)))
  const program = () =>
    createServerDraft('', { kind: 'stdio', command: '', args: [], envNames: [], folders: [], hosts: [], allowsUnsandboxed: false }, [])
  const remote = () => createServerDraft('', { kind: 'http', url: '', headerNames: [], credentialId: null }, [])
  const link = 'inline-block text-accent-ink hover:underline'
  return (
    <div class="flex flex-col gap-4">
      <TextArea
        label={t('connections.mcp.paste.label')}
        mono
        rows={4}
        maxRows={12}
        placeholder={'npx -y @modelcontextprotocol/server-memory\nhttps://mcp.example.com/mcp\n{ "mcpServers": { … } }'}
        value={text()}
        onValue={setText}
        hint={t('connections.mcp.paste.hint')}
        problem={read.error ? sentenceOf(read.error) : null}
      />
      <Show
        when={text().trim() !== '' && read.data}
        fallback={
          <p class="flex flex-wrap items-center gap-x-3 text-xs text-ink-3">
            {t('connections.mcp.paste.byHand')}
            <button type="button" class={link} onClick={() => props.onManual(program())}>
              {t('connections.mcp.program')}
            </button>
            <button type="button" class={link} onClick={() => props.onManual(remote())}>
              {t('connections.mcp.remote')}
            </button>
          </p>
        }
      >
        {(found) => (
          <div class="flex flex-col gap-3" aria-live="polite">
            <For each={found().servers}>
              {(draft) => <DraftCard draft={draft} action={t('connections.mcp.review.next')} onAction={() => props.onDraft(draft)} />}
            </For>
            <SkippedDrafts skipped={found().skipped} />
          </div>
        )}
      </Show>
    </div>
  )
}
