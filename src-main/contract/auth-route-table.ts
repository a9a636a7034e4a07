import { entriesOf } from '../../src-runner/contract/routes/route.ts'
import { AUTH_ROUTES } from './auth-api.ts'

/** The routes of the dashboard without their schemas. A bundle holds this table as data (`build/data-modules.ts`). */
export const AUTH_ROUTE_TABLE = entriesOf(AUTH_ROUTES)
