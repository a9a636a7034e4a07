import { activity } from './de/activity.ts'
import { agents } from './de/agents.ts'
import { chat } from './de/chat.ts'
import { common } from './de/common.ts'
import { home } from './de/home.ts'
import { job } from './de/job.ts'
import { markdown } from './de/markdown.ts'
import { models } from './de/models.ts'
import { settings } from './de/settings.ts'
import { shell } from './de/shell.ts'
import { turn } from './de/turn.ts'
import { welcome } from './de/welcome.ts'

export const de = { common, shell, home, chat, activity, job, agents, models, settings, welcome, turn, markdown }
