import type { JSX } from 'solid-js'
import type { Skill } from '../../../src-runner/contract/skills.ts'
import { useMay } from '../../api/may.ts'
import { useAction } from '../../api/mutations.ts'
import { toastError } from '../../api/toast-error.ts'
import { Switch } from '../../ui/Switch.tsx'

/** Gives a skill to an agent, or takes it away. */
export function SkillSwitch(props: { skill: Skill; agentId: string; label: string; hint?: string }): JSX.Element {
  const change = useAction('updateSkillSettings')
  const may = useMay()
  const give = (has: boolean) =>
    change.run({ params: { skillId: props.skill.id }, body: { agent: { agentId: props.agentId, has } } }).catch(toastError)
  return (
    <Switch
      label={props.label}
      {...(props.hint !== undefined && { hint: props.hint })}
      checked={props.skill.agents.some(({ agentId }) => agentId === props.agentId)}
      disabled={change.isRunning || !may('updateSkillSettings')}
      onChecked={(has) => void give(has)}
    />
  )
}
