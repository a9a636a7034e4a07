import { useSearchParams } from '@solidjs/router'
import BookOpen from 'lucide-solid/icons/book-open'
import PenLine from 'lucide-solid/icons/pen-line'
import Plus from 'lucide-solid/icons/plus'
import Search from 'lucide-solid/icons/search'
import { createMemo, createSignal, type JSX, Show } from 'solid-js'
import { useMay } from '../../api/may.ts'
import { NothingYet } from '../../api/NothingYet.tsx'
import { useAgents, useSkillCatalogues, useSkills } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { matchesWords } from '../../lib/text.ts'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Screen } from '../../ui/Screen.tsx'
import { TextField } from '../../ui/TextField.tsx'
import { Catalogues } from './Catalogues.tsx'
import { DropArea } from './DropArea.tsx'
import { InstallDialog } from './InstallDialog.tsx'
import { inOrder } from './skill.ts'
import { SkillList } from './SkillList.tsx'

type Search = { q?: string; install?: string; source?: string; catalogue?: string; agent?: string }

/** The installed skills, and the ways to get another one. */
export function SkillsScreen(): JSX.Element {
  // In the URL, so that other screens can lead here, and a reload keeps the place. A link fills the field and nothing more.
  const [search, setSearch] = useSearchParams<Search>()
  const answer = useSkills()
  const agents = useAgents()
  const catalogues = useSkillCatalogues()
  const may = useMay()
  const [dropped, setDropped] = createSignal<File | null>(null)
  const skills = createMemo(() => inOrder(answer.data?.skills ?? []))
  const found = createMemo(() =>
    skills().filter((skill) => matchesWords(`${skill.name} ${skill.description} ${skill.source}`, search.q ?? '')),
  )
  const install = () => setSearch({ install: '1' })
  const close = () => {
    setDropped(null)
    setSearch({ install: undefined, source: undefined, catalogue: undefined, agent: undefined }, { replace: true })
  }
  const drop = (file: File) => {
    setDropped(file)
    // Otherwise the dialog would read the catalogue again as soon as the file is gone.
    if (search.catalogue !== undefined) setSearch({ catalogue: undefined }, { replace: true })
  }
  /** undefined: none is open, or it does not exist. null: not known yet. */
  const catalogueSource = createMemo(() => {
    if (search.catalogue === undefined) return undefined
    const { data } = catalogues
    return data === undefined ? null : data.catalogues.find(({ slug }) => slug === search.catalogue)?.source
  })
  /** What the dialog reads at once, and again only if it changes. undefined: it waits for the person. null: it is not known yet. */
  const opens = createMemo(() => {
    const source = catalogueSource()
    return dropped() ?? (typeof source === 'string' ? { catalogue: source } : source)
  })
  const isOpen = () => (search.install !== undefined || search.catalogue !== undefined || dropped() !== null) && opens() !== null
  return (
    <Screen width="medium">
      <PageHeader
        title={t('skills.title')}
        description={t('skills.about')}
        actions={
          <Show when={may('installSkill') && skills().length > 0}>
            <ButtonLink href="/skills/new" icon={PenLine}>
              {t('skills.edit.open')}
            </ButtonLink>
            <Button icon={Plus} onClick={install}>
              {t('skills.install.open')}
            </Button>
          </Show>
        }
      />
      <Show
        when={skills().length > 0}
        fallback={
          <NothingYet answer={answer} rows={4}>
            <EmptyState
              compact
              icon={BookOpen}
              title={t('skills.empty.title')}
              action={
                <Show when={may('installSkill')}>
                  <Button variant="primary" icon={Plus} onClick={install}>
                    {t('skills.install.open')}
                  </Button>
                  <ButtonLink href="/skills/new" icon={PenLine}>
                    {t('skills.edit.open')}
                  </ButtonLink>
                </Show>
              }
            >
              <p>{t('skills.empty.what')}</p>
              <p class="mt-2">{t(may('installSkill') ? 'skills.empty.how' : 'skills.empty.member')}</p>
            </EmptyState>
          </NothingYet>
        }
      >
        <div class="mb-3 w-72 max-sm:w-full">
          <TextField
            type="search"
            icon={Search}
            label={t('skills.search')}
            hideLabel
            placeholder={t('skills.search')}
            value={search.q ?? ''}
            onValue={(q) => setSearch({ q: q === '' ? undefined : q }, { replace: true })}
          />
        </div>
        <Show when={found().length > 0} fallback={<p class="py-6 text-center text-sm text-ink-3">{t('skills.nothingFound')}</p>}>
          <SkillList skills={found()} />
        </Show>
      </Show>
      <Show when={may('installSkill')}>
        <div class="mt-8">
          <Catalogues onOpen={(slug) => setSearch({ catalogue: slug })} />
        </div>
        <DropArea onFile={drop} />
      </Show>
      <Show when={may('installSkill') && isOpen() && agents.data}>
        {(loaded) => (
          <InstallDialog
            agents={loaded().agents}
            agentIds={search.agent === undefined ? [] : [search.agent]}
            source={search.source ?? ''}
            opens={opens() ?? undefined}
            onClose={close}
          />
        )}
      </Show>
    </Screen>
  )
}
