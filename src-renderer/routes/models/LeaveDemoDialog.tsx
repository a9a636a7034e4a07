import { For, Show } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import type { Model } from '../../../src-runner/contract/providers.ts'
import { useUpdateAgent, useUpdateSettings } from '../../api/mutations.ts'
import { sentenceOf } from '../../api/problem.ts'
import { words } from '../../kit/words/words.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'

/**
 * Asked after the first real provider was added: the demo follows a script, and agents that stay on it by oversight look
 * broken. Those that have it as a model of their own follow the default from now on.
 */
export function LeaveDemoDialog(props: { model: Model | null; agents: readonly Agent[]; onClose: () => void }) {
  const text = () => words().models.leaveDemo
  const settings = useUpdateSettings()
  const update = useUpdateAgent()
  const leave = async () => {
    const { providerId, model } = props.model!
    await settings.run({ body: { defaultModel: { providerId, model } } })
    for (const { id } of props.agents) await update.run({ params: { agentId: id }, body: { model: null } })
  }
  return (
    <ConfirmDialog
      open={props.model !== null}
      onClose={props.onClose}
      title={text().title(props.model?.label ?? '')}
      confirm={text().use(props.model?.label ?? '')}
      cancel={text().keep}
      onConfirm={leave}
      describeError={sentenceOf}
    >
      <p>{text().why}</p>
      <Show when={props.agents.length > 0}>
        <p class="mt-3">{text().agents(props.agents.length)}</p>
        <ul class="mt-1 list-disc pl-5">
          <For each={props.agents}>{({ name }) => <li>{name}</li>}</For>
        </ul>
      </Show>
    </ConfirmDialog>
  )
}
