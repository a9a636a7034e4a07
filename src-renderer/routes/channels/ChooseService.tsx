import { For, type JSX } from 'solid-js'
import type { ChannelKind } from '../../../src-runner/contract/channels.ts'
import { t } from '../../lib/language.ts'
import { Dialog } from '../../ui/Dialog.tsx'

/** The first step of connecting: which service. */
export function ChooseService(props: {
  kinds: readonly ChannelKind[]
  onChoose: (kind: ChannelKind) => void
  onClose: () => void
}): JSX.Element {
  return (
    <Dialog open onClose={props.onClose} title={t('channels.choose.title')} description={t('channels.choose.about')}>
      <ul class="grid gap-2 sm:grid-cols-2">
        <For each={props.kinds}>
          {(kind) => (
            <li>
              <button
                type="button"
                class="flex h-full w-full flex-col rounded-lg border border-line bg-surface px-3 py-3 text-left hover:border-accent hover:bg-hover"
                onClick={() => props.onChoose(kind)}
              >
                <span class="font-medium text-ink">{t(`channels.kinds.${kind}`)}</span>
                <span class="text-xs text-ink-3">{t(`channels.choose.needs.${kind}`)}</span>
              </button>
            </li>
          )}
        </For>
      </ul>
    </Dialog>
  )
}
