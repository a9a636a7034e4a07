import CircleDollarSign from 'lucide-solid/icons/circle-dollar-sign'
import Cpu from 'lucide-solid/icons/cpu'
import Search from 'lucide-solid/icons/search'
import Star from 'lucide-solid/icons/star'
import { createMemo, createSignal, For, Match, Show, Switch } from 'solid-js'
import type { ModelRef } from '../../../src-runner/contract/agents.ts'
import type { Model, ModelList } from '../../../src-runner/contract/providers.ts'
import { useMay } from '../../api/may.ts'
import type { Loaded } from '../../api/observe.ts'
import { problemOf } from '../../api/problem.ts'
import { compactText, priceText } from '../../../resources/locales/numbers.ts'
import { matchesWords } from '../../lib/text.ts'
import { locale, t } from '../../lib/language.ts'
import { isSameModel } from '../../features/models/model-key.ts'
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

/** All available models with their prices. */
export function ModelTable(props: {
  models: Loaded<ModelList>
  defaultModel: ModelRef | null
  onDefault: (model: ModelRef) => void
  query: string
  onQuery: (query: string) => void
}) {
  const [shown, setShown] = createSignal(AT_FIRST)
  const [priced, setPriced] = createSignal<Model | null>(null)
  const matching = createMemo(() =>
    (props.models.data?.models ?? []).filter((model) => matchesWords(`${model.providerName} ${model.label} ${model.model}`, props.query)),
  )
  return (
    <Panel
      title={t('models.list.title')}
      flush
      actions={
        <TextField
          type="search"
          label={t('models.list.search')}
          hideLabel
          placeholder={t('models.list.search')}
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
                  <EmptyState icon={Cpu} compact title={t('models.list.empty')}>
                    {t('models.list.emptyWhy')}
                  </EmptyState>
                }
              >
                <p class="px-4 py-6 text-center text-ink-3">{t('common.noMatchFor', { query: props.query })}</p>
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
                {t('models.list.more', { count: matching().length - shown() })}
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
  const may = useMay()
  const usd = (amount: number) => priceText(amount, locale())
  return (
    <div class="flex items-center gap-3 px-4 py-1 hover:bg-hover">
      <div class="flex min-w-0 flex-1 items-baseline gap-2">
        <span class="truncate">{props.model.label}</span>
        <Show when={props.model.label !== props.model.model}>
          <span class="truncate font-mono text-2xs text-ink-3 max-sm:hidden">{props.model.model}</span>
        </Show>
        <Show when={props.isDefault}>
          <Pill tone="accent">{t('models.list.isDefault')}</Pill>
        </Show>
      </div>
      <span class="w-24 shrink-0 text-right text-xs text-ink-3 max-lg:hidden">
        <Show when={props.model.contextTokens}>{(tokens) => t('models.list.context', { tokens: compactText(tokens(), locale()) })}</Show>
      </span>
      <span class="shrink-0 text-right text-xs text-ink-2 sm:w-52">
        <Switch>
          <Match when={props.model.priceOrigin === 'free'}>{t('models.list.free')}</Match>
          <Match when={props.model.price === null}>
            <span class="text-warn" title={t('models.list.unpricedWhy')}>
              {t('models.list.unpriced')}
            </span>
          </Match>
          <Match when={props.model.price}>
            {(price) => (
              <>
                {usd(price().inputUsdPerMillion)} <span class="text-ink-3">{t('models.list.input')}</span> ·{' '}
                {usd(price().outputUsdPerMillion)} <span class="text-ink-3">{t('models.list.output')}</span>
                <Show when={props.model.priceOrigin === 'user'}>
                  <span class="text-ink-3"> ({t('models.list.own')})</span>
                </Show>
              </>
            )}
          </Match>
        </Switch>
      </span>
      <Menu
        size="sm"
        label={t('models.list.actions', { model: props.model.label })}
        items={[
          {
            label: t('models.list.makeDefault'),
            icon: Star,
            disabled: props.isDefault || !may('updateSettings'),
            onSelect: props.onDefault,
          },
          {
            label: t('models.list.setPrice'),
            icon: CircleDollarSign,
            disabled: props.model.priceOrigin === 'free' || !may('setModelPrice'),
            onSelect: props.onPrice,
          },
        ]}
      />
    </div>
  )
}
