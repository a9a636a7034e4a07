import KeyRound from 'lucide-solid/icons/key-round'
import { type JSX, Show } from 'solid-js'
import type { Connector } from '../../../src-runner/contract/connectors.ts'
import { IconTile, TILE_SIZES } from '../../ui/IconTile.tsx'

/** The mark of a service, on white in both themes, because brand colours are made for white. */
export function ConnectorLogo(props: { connector: Connector | undefined; size?: keyof typeof TILE_SIZES }): JSX.Element {
  return (
    <Show when={props.connector} fallback={<IconTile icon={KeyRound} size={props.size} />}>
      {(connector) => (
        <span
          aria-hidden="true"
          class={`inline-flex shrink-0 items-center justify-center border border-line bg-[#fff] ${TILE_SIZES[props.size ?? 'md']}`}
        >
          <svg viewBox="0 0 24 24" class="size-[56%]" fill={connector().logo.color}>
            <path d={connector().logo.path} />
          </svg>
        </span>
      )}
    </Show>
  )
}
