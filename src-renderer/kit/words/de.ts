import { common } from './de/common.ts'
import { home } from './de/home.ts'
import { models } from './de/models.ts'
import { settings } from './de/settings.ts'
import { shell } from './de/shell.ts'
import { welcome } from './de/welcome.ts'

export const de = { common, shell, home, models, settings, welcome }
