import { activity } from './de/activity.ts'
import { agents } from './de/agents.ts'
import { approvals } from './de/approvals.ts'
import { channels } from './de/channels.ts'
import { automations } from './de/automations.ts'
import { chat } from './de/chat.ts'
import { common } from './de/common.ts'
import { desktop } from './de/desktop.ts'
import { errors } from './de/errors.ts'
import { files } from './de/files.ts'
import { attention, databaseTrouble, doctor } from './de/findings.ts'
import { home } from './de/home.ts'
import { job } from './de/job.ts'
import { markdown } from './de/markdown.ts'
import { memory } from './de/memory.ts'
import { models } from './de/models.ts'
import { policy } from './de/policy.ts'
import { rules } from './de/rules.ts'
import { said } from './de/said.ts'
import { settings } from './de/settings.ts'
import { shell } from './de/shell.ts'
import { turn } from './de/turn.ts'
import { welcome } from './de/welcome.ts'

export const de = {
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
