import { z } from 'zod'
import { Id, Moment } from '../../src-runner/contract/primitives.ts'
import { del, get, Nothing, patch, post } from '../../src-runner/contract/routes/route.ts'

/**
 * The dashboard's routes for accounts and sign-in. Over HTTP they exist in `local-auth` only; in the app's window always.
 * Of their access, `public` needs no sign-in and `runner` a signed-in person, as for the runner's routes.
 */
export const Role = z.enum(['owner', 'member'])
export type Role = z.infer<typeof Role>

/** A name to sign in with: letters of any language, spaces and signs, so an e-mail address works too. */
export const PersonName = z
  .string()
  .transform((name) => name.normalize('NFKC').trim().replace(/\s+/g, ' '))
  .pipe(
    z
      .string()
      .min(1)
      .max(60)
      .regex(/^[^\p{C}]+$/u),
  )
export const MIN_PASSWORD_CHARS = 10
export const MAX_PASSWORD_CHARS = 256
/** A new password. */
export const NewPassword = z.string().min(MIN_PASSWORD_CHARS).max(MAX_PASSWORD_CHARS)
/** Any password that could have been set. A longer one is refused before it is hashed. */
const Password = z.string().min(1).max(MAX_PASSWORD_CHARS)
/** The secret part of a one-time link. */
const LinkToken = z.string().regex(/^[\w-]{20,100}$/)

export const Person = z.object({ id: Id, name: z.string(), role: Role, createdAt: Moment })
export type Person = z.infer<typeof Person>

export const Device = z.object({
  id: Id,
  personId: Id,
  personName: z.string(),
  /** By their own names, such as Firefox and Android; null: unknown. */
  browser: z.string().nullable(),
  system: z.string().nullable(),
  address: z.string().nullable(),
  createdAt: Moment,
  lastSeenAt: Moment,
  /** The device that asks. */
  isThis: z.boolean(),
})
export type Device = z.infer<typeof Device>

export const Invitation = z.object({
  id: Id,
  role: Role,
  /** null: invited in the app's window. */
  invitedBy: z.string().nullable(),
  createdAt: Moment,
  expiresAt: Moment,
})
export type Invitation = z.infer<typeof Invitation>

/** What a page sends beside the cookie of its session, in the header `x-deckhand-page`. */
const PageKey = z.string()

export const SignInState = z.object({
  /** Without an owner, only a setup link or the app's window can create an account. */
  hasOwner: z.boolean(),
  /** null: nobody is signed in, or this is the app's own window, which needs no sign-in. */
  person: Person.nullable(),
  /** The accounts were damaged. The file is kept here. null also for members, and for everybody who is not signed in. */
  damagedFile: z.string().nullable(),
})
export type SignInState = z.infer<typeof SignInState>

export const AUTH_ROUTES = {
  getSignIn: get('/api/auth/get-session', {
    access: 'public',
    summary: 'Who is signed in.',
    answer: SignInState,
  }),
  signIn: post('/api/auth/sign-in/username', {
    access: 'public',
    summary: 'Sign in. The session comes as a cookie; clients that are no browsers get its token too.',
    body: z.object({ username: z.string().min(1).max(200), password: Password }),
    answer: z.object({ person: Person, pageKey: PageKey, token: z.string().optional() }),
    errors: ['sign_in_failed', 'too_many_guesses'],
  }),
  checkLink: post('/api/auth/link', {
    access: 'public',
    summary: 'What a one-time link is for.',
    body: z.object({ link: LinkToken }),
    answer: z.object({ role: Role, invitedBy: z.string().nullable(), isSetup: z.boolean() }),
    errors: ['link_not_valid'],
  }),
  signUp: post('/api/auth/sign-up', {
    access: 'public',
    summary: 'Create an account with a setup link or an invitation, and sign in.',
    body: z.object({ link: LinkToken, name: PersonName, password: NewPassword }),
    status: 201,
    answer: z.object({ person: Person, pageKey: PageKey }),
    errors: ['link_not_valid', 'name_taken'],
  }),
  signOut: post('/api/auth/sign-out', {
    access: 'public',
    summary: 'Sign out. The session ends on the server.',
    answer: Nothing,
  }),
  changePassword: post('/api/auth/change-password', {
    summary: 'Change the own password. All other devices are signed out, and this one gets a new session.',
    body: z.object({ currentPassword: Password, newPassword: NewPassword }),
    answer: z.object({ pageKey: PageKey }),
    errors: ['wrong_password', 'sign_in_failed', 'too_many_guesses'],
  }),
  createOwner: post('/api/auth/owner', {
    summary: "Create the first account. Only in the app's own window.",
    body: z.object({ name: PersonName, password: NewPassword }),
    status: 201,
    answer: z.object({ person: Person }),
    errors: ['owner_exists', 'name_taken'],
  }),
  listDevices: get('/api/auth/devices', {
    summary: 'Signed-in devices: the own ones, for owners those of everybody. The one seen last comes first.',
    answer: z.object({ devices: z.array(Device) }),
  }),
  signOutDevice: del('/api/auth/devices/:deviceId', {
    summary: 'Sign a device out.',
    params: z.object({ deviceId: Id }),
    answer: Nothing,
    errors: ['device_not_found'],
  }),
  listPeople: get('/api/auth/people', {
    ownerOnly: true,
    summary: 'The accounts and the invitations that were not used yet.',
    answer: z.object({ people: z.array(Person), invitations: z.array(Invitation) }),
  }),
  changePerson: patch('/api/auth/people/:personId', {
    ownerOnly: true,
    summary: 'Change the role of a person. One owner must remain.',
    params: z.object({ personId: Id }),
    body: z.object({ role: Role }),
    answer: z.object({ person: Person }),
    errors: ['person_not_found', 'last_owner'],
  }),
  resetPassword: post('/api/auth/people/:personId/password', {
    ownerOnly: true,
    summary: "Set another password for a person. Their devices are signed out. Only in the app's own window.",
    params: z.object({ personId: Id }),
    body: z.object({ password: NewPassword }),
    answer: Nothing,
    errors: ['person_not_found'],
  }),
  removePerson: del('/api/auth/people/:personId', {
    ownerOnly: true,
    summary: 'Delete an account. Its devices are signed out at once.',
    params: z.object({ personId: Id }),
    answer: Nothing,
    errors: ['person_not_found', 'last_owner'],
  }),
  invite: post('/api/auth/invitations', {
    ownerOnly: true,
    summary: 'Create a link for one new account, valid for three days. `link` is shown this once.',
    body: z.object({ role: Role }),
    status: 201,
    answer: z.object({ invitation: Invitation, link: LinkToken }),
  }),
  withdrawInvitation: del('/api/auth/invitations/:invitationId', {
    ownerOnly: true,
    summary: 'Withdraw an invitation.',
    params: z.object({ invitationId: Id }),
    answer: Nothing,
    errors: ['invitation_not_found'],
  }),
}

export type AuthRoutes = typeof AUTH_ROUTES
export type AuthRouteName = keyof AuthRoutes

/** The path and fragment of a one-time link. The token is in the fragment, which no browser sends to a server. */
export const linkPath = (kind: 'setup' | 'invite', token: string) => `/sign-in#${kind}=${token}`
