import { common } from './en/common.ts'
import { home } from './en/home.ts'
import { models } from './en/models.ts'
import { settings } from './en/settings.ts'
import { shell } from './en/shell.ts'
import { welcome } from './en/welcome.ts'

/** The complete catalogue. One section a screen, each in its own file; the other languages are typed after this one. */
export const en = { common, shell, home, models, settings, welcome }
