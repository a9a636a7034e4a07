import KeyRound from 'lucide-solid/icons/key-round'
import { type JSX, Show } from 'solid-js'
import { Dynamic } from 'solid-js/web'
import type { Connector } from '../../../src-runner/contract/connectors.ts'
import type { Icon } from '../../ui/icon.ts'

const SIZES = { md: 'size-9 rounded-lg', lg: 'size-12 rounded-xl' }

/** The mark of a service, on white in both themes, because brand colours are made for white. */
export function ConnectorLogo(props: { connector: Connector | undefined; size?: keyof typeof SIZES }): JSX.Element {
  return (
    <Show when={props.connector} fallback={<IconTile icon={KeyRound} size={props.size} />}>
      {(connector) => (
        <span
          aria-hidden="true"
          class={`inline-flex shrink-0 items-center justify-center border border-line bg-[#fff] ${SIZES[props.size ?? 'md']}`}
        >
          <svg viewBox="0 0 24 24" class="size-[56%]" fill={connector().logo.color}>
            <path d={connector().logo.path} />
          </svg>
        </span>
      )}
    </Show>
  )
}

/** The same tile for something without a mark of its own. */
export function IconTile(props: { icon: Icon; size?: keyof typeof SIZES | undefined }): JSX.Element {
  return (
    <span
      aria-hidden="true"
      class={`inline-flex shrink-0 items-center justify-center border border-line bg-inset text-ink-2 ${SIZES[props.size ?? 'md']}`}
    >
      <Dynamic component={props.icon} size={props.size === 'lg' ? 24 : 17} aria-hidden="true" />
    </span>
  )
}
