import { activity } from './en/activity.ts'
import { agents } from './en/agents.ts'
import { approvals } from './en/approvals.ts'
import { channels } from './en/channels.ts'
import { automations } from './en/automations.ts'
import { chat } from './en/chat.ts'
import { common } from './en/common.ts'
import { desktop } from './en/desktop.ts'
import { errors } from './en/errors.ts'
import { files } from './en/files.ts'
import { attention, databaseTrouble, doctor } from './en/findings.ts'
import { home } from './en/home.ts'
import { job } from './en/job.ts'
import { markdown } from './en/markdown.ts'
import { memory } from './en/memory.ts'
import { models } from './en/models.ts'
import { policy } from './en/policy.ts'
import { rules } from './en/rules.ts'
import { said } from './en/said.ts'
import { settings } from './en/settings.ts'
import { shell } from './en/shell.ts'
import { turn } from './en/turn.ts'
import { welcome } from './en/welcome.ts'

/** The complete catalogue. One section a screen, each in its own file; the other languages are typed after this one. */
export const en = {
  common,
  shell,
  home,
  chat,
  approvals,
  activity,
  job,
  automations,
  agents,
  rules,
  memory,
  files,
  models,
  channels,
  settings,
  welcome,
  turn,
  markdown,
  errors,
  said,
  policy,
  attention,
  databaseTrouble,
  doctor,
  desktop,
}
