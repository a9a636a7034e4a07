import CircleDollarSign from 'lucide-solid/icons/circle-dollar-sign'
import Cpu from 'lucide-solid/icons/cpu'
import Search from 'lucide-solid/icons/search'
import Star from 'lucide-solid/icons/star'
import { createMemo, createSignal, For, Match, Show, Switch } from 'solid-js'
import type { ModelRef } from '../../../src-runner/contract/agents.ts'
import type { Model, ModelList } from '../../../src-runner/contract/providers.ts'
import type { Loaded } from '../../api/observe.ts'
import { problemOf } from '../../api/problem.ts'
import { compactText, priceText } from '../../kit/numbers.ts'
import { matchesWords } from '../../kit/text.ts'
import { locale, words } from '../../kit/words/words.ts'
import { isSameModel } from '../../models/model-key.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Pill } from '../../ui/Pill.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { PriceDialog } from './PriceDialog.tsx'

const AT_FIRST = 40

/** Every model that can be used, with what it costs. */
export function ModelTable(props: {
  models: Loaded<ModelList>
  defaultModel: ModelRef | null
  onDefault: (model: ModelRef) => void
  query: string
  onQuery: (query: string) => void
}) {
  const text = () => words().models.list
  const [shown, setShown] = createSignal(AT_FIRST)
  const [priced, setPriced] = createSignal<Model | null>(null)
  const matching = createMemo(() =>
    (props.models.data?.models ?? []).filter((model) => matchesWords(`${model.providerName} ${model.label} ${model.model}`, props.query)),
  )
  return (
    <Panel
      title={text().title}
      flush
      actions={
        <TextField
          type="search"
          label={text().search}
          hideLabel
          placeholder={text().search}
          icon={Search}
          class="w-56 max-sm:w-36"
          value={props.query}
          onValue={(query) => {
            setShown(AT_FIRST)
            props.onQuery(query)
          }}
        />
      }
    >
      <Switch fallback={<Skeleton rows={5} class="min-h-40 p-4" />}>
        <Match when={props.models.data}>
          <For
            each={matching().slice(0, shown())}
            fallback={
              <Show
                when={props.query}
                fallback={
                  <EmptyState icon={Cpu} compact title={text().empty}>
                    {text().emptyWhy}
                  </EmptyState>
                }
              >
                <p class="px-4 py-6 text-center text-ink-3">{words().common.noMatchFor(props.query)}</p>
              </Show>
            }
          >
            {(model, index) => (
              <>
                <Show when={matching()[index() - 1]?.providerId !== model.providerId}>
                  <h3 class="border-t border-line px-4 pt-3 pb-1 text-xs font-semibold text-ink-3 first:border-t-0">
                    {model.providerName}
                  </h3>
                </Show>
                <ModelLine
                  model={model}
                  isDefault={isSameModel(model, props.defaultModel)}
                  onDefault={() => props.onDefault({ providerId: model.providerId, model: model.model })}
                  onPrice={() => setPriced(model)}
                />
              </>
            )}
          </For>
          <Show when={matching().length > shown()}>
            <div class="border-t border-line p-2 text-center">
              <Button variant="ghost" size="sm" onClick={() => setShown((count) => count + 200)}>
                {text().more(matching().length - shown())}
              </Button>
            </div>
          </Show>
        </Match>
        <Match when={props.models.error}>
          <div class="p-4">
            <ErrorState problem={problemOf(props.models.error)} onRetry={props.models.retry} />
          </div>
        </Match>
      </Switch>
      <Show when={priced()}>{(model) => <PriceDialog model={model()} onClose={() => setPriced(null)} />}</Show>
    </Panel>
  )
}

function ModelLine(props: { model: Model; isDefault: boolean; onDefault: () => void; onPrice: () => void }) {
  const text = () => words().models.list
  const usd = (amount: number) => priceText(amount, locale())
  return (
    <div class="flex items-center gap-3 px-4 py-1 hover:bg-hover">
      <div class="flex min-w-0 flex-1 items-baseline gap-2">
        <span class="truncate">{props.model.label}</span>
        <Show when={props.model.label !== props.model.model}>
          <span class="truncate font-mono text-2xs text-ink-3 max-sm:hidden">{props.model.model}</span>
        </Show>
        <Show when={props.isDefault}>
          <Pill tone="accent">{text().isDefault}</Pill>
        </Show>
      </div>
      <span class="w-24 shrink-0 text-right text-xs text-ink-3 max-lg:hidden">
        <Show when={props.model.contextTokens}>{(tokens) => text().context(compactText(tokens(), locale()))}</Show>
      </span>
      <span class="shrink-0 text-right text-xs text-ink-2 sm:w-52">
        <Switch>
          <Match when={props.model.priceOrigin === 'free'}>{text().free}</Match>
          <Match when={props.model.price === null}>
            <span class="text-warn" title={text().unpricedWhy}>
              {text().unpriced}
            </span>
          </Match>
          <Match when={props.model.price}>
            {(price) => (
              <>
                {usd(price().inputUsdPerMillion)} <span class="text-ink-3">{text().input}</span> · {usd(price().outputUsdPerMillion)}{' '}
                <span class="text-ink-3">{text().output}</span>
                <Show when={props.model.priceOrigin === 'user'}>
                  <span class="text-ink-3"> ({text().own})</span>
                </Show>
              </>
            )}
          </Match>
        </Switch>
      </span>
      <Menu
        size="sm"
        label={text().actions(props.model.label)}
        items={[
          { label: text().makeDefault, icon: Star, disabled: props.isDefault, onSelect: props.onDefault },
          { label: text().setPrice, icon: CircleDollarSign, disabled: props.model.priceOrigin === 'free', onSelect: props.onPrice },
        ]}
      />
    </div>
  )
}
