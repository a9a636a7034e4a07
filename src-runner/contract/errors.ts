import { z } from 'zod'
import { Message } from './messages.ts'

/**
 * Every error code of the two servers with its HTTP status. A code has one status, so handlers name only the code.
 */
export const ERROR_STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  sign_in_failed: 401,
  /** In a browser: the page was not opened from Deckhand. */
  link_required: 401,
  invalid_worker_secret: 403,
  forbidden_host: 403,
  /** In `local-trust`: the program belongs to another account, or is not on this machine. */
  forbidden_account: 403,
  forbidden_origin: 403,
  forbidden_forwarded: 403,
  /** The network is asked to use HTTPS. */
  https_required: 403,
  owner_only: 403,
  wrong_password: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  agent_not_found: 404,
  entity_not_found: 404,
  conversation_not_found: 404,
  job_not_found: 404,
  provider_not_found: 404,
  approval_not_found: 404,
  rule_not_found: 404,
  tool_not_found: 404,
  file_not_written: 404,
  result_not_kept: 404,
  memory_not_found: 404,
  trigger_not_found: 404,
  delivery_not_found: 404,
  schedule_not_found: 404,
  channel_not_found: 404,
  channel_person_not_found: 404,
  credential_not_found: 404,
  skill_not_found: 404,
  /** The job writes no skill. */
  skill_draft_not_found: 404,
  authorization_not_found: 404,
  connector_not_found: 404,
  no_messenger_binding: 404,
  outbound_not_found: 404,
  person_not_found: 404,
  device_not_found: 404,
  invitation_not_found: 404,
  token_not_found: 404,
  mcp_server_not_found: 404,
  code_task_not_found: 404,
  unknown_field: 400,
  install_failed: 400,
  uninstall_failed: 400,
  preview_failed: 400,
  update_failed: 400,
  acknowledge_failed: 400,
  trigger_has_no_agent: 400,
  placeholder_missing: 400,
  /** The folder is none of the agent's. */
  folder_not_open: 400,
  not_a_repository: 400,
  repository_has_no_commits: 400,
  program_missing: 400,
  git_missing: 400,
  agent_has_no_model: 409,
  agent_is_last: 409,
  provider_in_use: 409,
  provider_read_only: 409,
  client_id_reused: 409,
  job_already_finished: 409,
  job_not_finished: 409,
  approval_already_resolved: 409,
  approval_expired: 410,
  file_changed_since: 409,
  file_cannot_be_undone: 409,
  memory_full: 409,
  trigger_slug_taken: 409,
  /** It is not the version that was previewed. */
  skill_has_changed: 409,
  /** Only skills that were written in Deckhand can be edited. */
  skill_not_own: 409,
  trigger_is_paused: 409,
  /** It was imported, or restored on another computer. */
  trigger_has_no_signing_secret: 409,
  delivery_has_no_payload: 409,
  schedule_is_running: 409,
  channel_exists: 409,
  outbound_already_sent: 409,
  public_address_fixed: 409,
  tunnel_not_installed: 409,
  name_taken: 409,
  mcp_tool_changed: 409,
  mcp_import_changed: 409,
  code_does_not_apply: 409,
  /** The repository or the branch cannot be used. */
  code_not_available: 409,
  code_branch_in_use: 409,
  /** It holds what no branch can. */
  code_folder_unsaved: 409,
  mcp_registry_unreachable: 503,
  owner_exists: 409,
  last_owner: 409,
  link_not_valid: 410,
  /** The sign-in has ended. */
  authorization_over: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  provider_refused: 422,
  skill_refused: 422,
  folder_not_usable: 422,
  channel_refused: 422,
  /** The service refuses the account, or the account is not for this. */
  credential_refused: 422,
  /** The service refused the sign-in. */
  authorization_refused: 422,
  rate_limited: 429,
  too_many_guesses: 429,
  too_many_streams: 429,
  job_creation_failed: 500,
  internal: 500,
  messenger_manager_unavailable: 503,
  runner_unavailable: 503,
  sign_in_unavailable: 503,
  too_many_deliveries: 503,
  database_unavailable: 503,
  disk_full: 503,
  backup_failed: 503,
  import_refused: 422,
  vault_unavailable: 503,
  accounts_unavailable: 503,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/** Why a job ended as `failed`. Stored in `agent_jobs.error`, with a message for people beside it. */
export const JOB_ERROR_CODES = [
  'agent_has_no_model',
  'agent_deleted',
  'turn_limit',
  'cost_limit',
  'time_limit',
  'tool_call_limit',
  'model_auth',
  'model_not_found',
  'model_context_too_long',
  'model_refused',
  'model_unavailable',
  'model_bad_answer',
  'coding_program_failed',
  'coding_not_allowed',
  'coding_git_failed',
  'crash_loop',
  'stuck',
  'internal',
] as const
export const JobErrorCode = z.enum(JOB_ERROR_CODES)
export type JobErrorCode = z.infer<typeof JobErrorCode>

/** What is wrong with a field of a request. */
export const IssueKind = z.enum([
  'missing',
  'too_short',
  'too_long',
  'too_small',
  'too_large',
  'too_few',
  'too_many',
  'wrong_kind',
  'wrong_shape',
  'not_offered',
  'unknown_field',
])
export type IssueKind = z.infer<typeof IssueKind>

/** `kind` and `limit`: what the schema refused. `detail`: a message of the runner. `message`: the same in English. */
export const ErrorIssue = z.object({
  path: z.string(),
  message: z.string(),
  kind: IssueKind.optional(),
  limit: z.number().optional(),
  detail: Message.optional(),
})
export type ErrorIssue = z.infer<typeof ErrorIssue>

/**
 * The body of every error response. `message` is English, `detail` the same for readers of other languages. It never
 * repeats what was sent.
 */
/** Errors of the routes of skills. Their bodies have `ok: false`. */
export const SKILL_FAILURES: readonly ErrorCode[] = [
  'install_failed',
  'uninstall_failed',
  'preview_failed',
  'update_failed',
  'acknowledge_failed',
]

export const ErrorBody = z.object({
  ok: z.literal(false).optional(),
  error: z.string(),
  message: z.string().optional(),
  detail: Message.optional(),
  issues: z.array(ErrorIssue).optional(),
})
export type ErrorBody = z.infer<typeof ErrorBody>
