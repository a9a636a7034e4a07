import { useNavigate } from '@solidjs/router'
import { batch, createEffect, createSignal, type JSX, Match, on, Switch } from 'solid-js'
import type { Agent } from '../../../src-runner/contract/agents.ts'
import { type FoundSkill, SKILL_LIMITS, type SkillOrigin, type SkillPreview } from '../../../src-runner/contract/skills.ts'
import { bytesText } from '../../../resources/locales/numbers.ts'
import { ApiError } from '../../api/client.ts'
import { useAction } from '../../api/mutations.ts'
import { readBase64 } from '../../lib/files.ts'
import { locale, t } from '../../lib/language.ts'
import { ChooseSkill } from './ChooseSkill.tsx'
import { ChooseSource } from './ChooseSource.tsx'
import { ReviewSkill } from './ReviewSkill.tsx'

type Several = { origin: SkillOrigin; found: readonly FoundSkill[] }

/** Installs a skill: where it comes from, which one of several, then what is in it. A link fetches nothing by itself. */
export function InstallDialog(props: {
  agents: readonly Agent[]
  /** The agents that get it, if the person changes nothing. */
  agentIds: readonly string[]
  /** What the field says at first. */
  source: string
  /** A file that the person dropped, a catalogue that they opened, or a skill that they look at: it is read at once. */
  opens?: File | { catalogue: string } | { skill: string } | undefined
  /** The digest of the version that an import names. */
  importedDigest?: string
  onClose: () => void
}): JSX.Element {
  const navigate = useNavigate()
  const read = useAction('previewSkill')
  const browse = useAction('browseSkills')
  const [source, setSource] = createSignal(props.source)
  const [several, setSeveral] = createSignal<Several | null>(null)
  const [review, setReview] = createSignal<{ origin: SkillOrigin; preview: SkillPreview } | null>(null)
  const [tooLarge, setTooLarge] = createSignal<string | null>(null)

  const [isReading, setReading] = createSignal(false)
  const [error, setError] = createSignal<unknown>(null)
  let lastRead = 0

  /** Runs `work`, which returns how to show what it has read. Only the last one is shown, whatever order they end in. */
  const readAndShow = async (work: () => Promise<() => void>) => {
    const own = ++lastRead
    setTooLarge(null)
    setError(null)
    setReading(true)
    const show = await work().catch((thrown: unknown) => () => setError(thrown))
    if (own !== lastRead) return
    batch(() => {
      setReading(false)
      show()
    })
  }
  const readOne = async (origin: SkillOrigin) => {
    try {
      const { preview } = await read.run({ body: origin })
      return () => void setReview({ origin, preview })
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.detail?.code === 'skill_several') return readSeveral(origin)
      throw thrown
    }
  }
  const readSeveral = async (origin: SkillOrigin) => {
    const { skills } = await browse.run({ body: origin })
    return () => void setSeveral({ origin, found: skills })
  }
  const readFile = async (file: File) => {
    if (file.size > SKILL_LIMITS.packedBytes)
      return () => void setTooLarge(t('skills.install.tooLarge', { size: bytesText(SKILL_LIMITS.packedBytes, locale()) }))
    return readOne({ upload: { fileName: file.name, base64: await readBase64(file) } })
  }
  const look = (origin: SkillOrigin) => void readAndShow(() => readOne(origin))
  const lookThrough = (origin: SkillOrigin) => void readAndShow(() => readSeveral(origin))
  const lookInFile = (file: File) => void readAndShow(() => readFile(file))
  createEffect(
    on(
      () => props.opens,
      (opens) => {
        if (opens === undefined) return
        // A file that is dropped on the open dialog takes the place of what it shows.
        setReview(null)
        setSeveral(null)
        if (opens instanceof File) lookInFile(opens)
        else if ('skill' in opens) look({ source: opens.skill })
        else lookThrough({ source: opens.catalogue })
      },
    ),
  )
  return (
    <Switch>
      <Match when={review()}>
        {(one) => (
          <ReviewSkill
            origin={one().origin}
            preview={one().preview}
            agents={props.agents}
            agentIds={props.agentIds}
            importedDigest={props.importedDigest}
            onAgain={(preview) => setReview({ origin: one().origin, preview })}
            onBack={() => setReview(null)}
            onDone={(skillId) => {
              props.onClose()
              navigate(`/skills/${skillId}`)
            }}
            onClose={props.onClose}
          />
        )}
      </Match>
      <Match when={several()}>
        {(one) => (
          <ChooseSkill
            found={one().found}
            isReading={isReading()}
            error={error()}
            onChoose={(found) => look(originOf(one().origin, found))}
            onBack={() => {
              setError(null)
              setSeveral(null)
            }}
            onClose={props.onClose}
          />
        )}
      </Match>
      <Match when={true}>
        <ChooseSource
          source={source()}
          onSource={(next) => {
            setTooLarge(null)
            setError(null)
            setSource(next)
          }}
          isReading={isReading()}
          problem={tooLarge()}
          error={error()}
          onLook={(place) => look({ source: place })}
          onFile={lookInFile}
          onClose={props.onClose}
        />
      </Match>
    </Switch>
  )
}

/** One of the skills of a source, or of a file that was sent. */
function originOf({ upload }: SkillOrigin, { source, folder }: FoundSkill): SkillOrigin {
  return source !== null ? { source } : { upload: { ...upload!, folder } }
}
